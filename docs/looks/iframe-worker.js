// Browsers start no worker from a file. Where the guide is opened from a folder, its search works in a
// hidden frame instead, which is to the page what a worker is. The theme looks for that name. Live
// figures start their workers from memory, which browsers allow.

const NativeWorker = Worker;

class IFrameWorker extends EventTarget {
  #frame = document.createElement("iframe");
  #waiting = [];

  constructor(url) {
    if (String(url).startsWith("blob:")) return new NativeWorker(url);
    super();
    this.#frame.hidden = true;
    document.body.append(this.#frame);
    const inner = this.#frame.contentWindow;
    inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = inner.document.createElement("script");
    script.src = url;
    script.addEventListener("load", () => {
      const waiting = this.#waiting;
      this.#waiting = null;
      for (const data of waiting) this.postMessage(data);
    });
    script.addEventListener("error", () => this.dispatchEvent(new ErrorEvent("error")));
    inner.document.body.append(script);
  }

  postMessage(data) {
    if (this.#waiting) this.#waiting.push(data);
    else this.#frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
  }

  terminate() {
    this.#frame.remove();
  }
}

if (location.protocol === "file:") Object.assign(window, { IFrameWorker, Worker: IFrameWorker });
