/** A column of numbers. A value that is missing is NaN. */
export type Column = Float64Array;
/** A column of indices into a list of names. */
export type Codes = Uint8Array;

export interface RunRequest {
  /** The name of an included scenario, such as "hold". */
  scenario: string;
  /** The text of a scenario of your own, in TOML; it replaces the included one. */
  toml?: string | null;
  /** Values that replace those of the scenario, by dotted key: `{"link.radio.rate": "2 Mbit/s"}`. */
  set?: Record<string, string>;
  /** Sender specifications, such as "sack+frto"; none for the scenario's own. */
  senders?: string[];
  /** The seed; its digits as a text above 2^53. */
  seed?: number | string;
  /** The flow to return; by default the first. */
  flow?: string | null;
  /** The host at which packets are seen. */
  place?: "sender" | "receiver";
  /** Begin and end of the packets to return, in seconds. */
  between?: [number, number] | null;
  /** The most packets of a sender; if it has more, they are thinned out. By default 20,000. */
  packets?: number;
  /** The most timeouts of a sender. By default 200. */
  timeouts?: number;
}

export interface TimeoutRequest extends RunRequest {
  /** The one sender whose timeout it is. */
  senders: [string];
  /** When the timeout happened, in seconds: its `at_s`. */
  at_s: number;
  /** Its segment: its `seq`. */
  seq: number;
  /** Senders that continue from it. */
  others?: string[];
}

export interface Verdict {
  detector: string;
  verdict: "spurious" | "genuine" | "open" | "blind";
  why: string | null;
  delay_s: number | null;
}

export interface Timeout {
  at_s: number;
  kind: "timeout" | "fast_retransmit" | "probe";
  seq: number;
  rto_s: number | null;
  /** The ground truth; null in captures whose packets do not show it. */
  truth: string | null;
  /** What it cost: seconds and segments; null if it was not spurious, or the run was cut. */
  cost_s: number | null;
  cost_segments: number | null;
  /** The sender's own verdict. */
  verdict: string | null;
  detector: string | null;
  verdict_at_s: number | null;
  /** The verdicts of passive detectors. */
  verdicts: Verdict[];
}

export interface Totals {
  completed: boolean;
  elapsed_s: number | null;
  /** In bit/s: over the elapsed time, or until the run was cut. */
  goodput_bps: number | null;
  segments: number;
  retransmissions: number;
  needed: number;
  unneeded: number;
  lost: number;
  timeouts: number;
  spurious_timeouts: number | null;
  ack_lost_timeouts: number | null;
  genuine_timeouts: number | null;
  fast_retransmits: number;
  found_spurious: number;
  /** Does the flow go on as long as the run? */
  endless: boolean;
  /** When the run was cut, if the transfer did not complete. */
  cut_s?: number;
}

/** The frames in one direction of a link, at the times of the path. */
export interface Frames {
  /** Packets that wait for their transmission. */
  waiting: Column;
  /** Their size in bytes. */
  bytes: Column;
  /** All others in the link. */
  moving: Column;
}

export interface Path {
  at_s: Column;
  links: {
    name: string;
    /** The ends; null at an access link. */
    from: string | null;
    to: string | null;
    /** In the direction of the data, and of the ACKs. */
    there: Frames;
    back: Frames;
  }[];
}

export interface Sender {
  name: string;
  end_s: number;
  /** The span of the packets, in seconds, and one in how many is returned. */
  shown?: [number, number];
  every?: number;
  packets: Record<"at_s" | "seq" | "len" | "sent_s" | "cause_s" | "fate_at_s" | "held_s" | "acked_s", Column> &
    Record<"kind" | "cause" | "fate", Codes>;
  acks: Record<"at_s" | "ack", Column>;
  sacks: Record<"at_s" | "start" | "end", Column>;
  windows: Record<"at_s" | "cwnd" | "ssthresh" | "srtt_s" | "rto_s", Column>;
  /** The meanings of the codes of packets. */
  names: Record<"kind" | "cause" | "fate", string[]>;
  timeouts: Timeout[];
  all_timeouts: number;
  /** Not in captures. */
  totals: Totals;
  /** Only in answers of `run`. */
  path?: Path;
}

export interface Disturbance {
  link: string;
  direction: string;
  kind: "stall" | "outage" | "spike";
  from_s: number;
  to_s: number;
}

export interface Run {
  flow: string;
  /** All flows of the run. Not in answers of `branch`. */
  flows?: string[];
  disturbances: Disturbance[];
  seed: number;
  place: "sender" | "receiver";
  end_s: number;
  senders: Sender[];
}

export interface WhatIf {
  at_s: number;
  truth: string | null;
  cost_s: number | null;
  cost_segments: number | null;
  end_s: number | null;
  completed: boolean;
  others: ({ sender: string; end_s: number | null; time_s: number | null; segments: number } | { sender: string; error: string })[];
}

export interface LinkValues {
  name: string;
  rate: string | null;
  delay: string | null;
  loss: string | null;
  stall: { at: string; for: string } | null;
  keys: Record<"rate" | "delay" | "loss" | "stalls", string>;
  troubled: boolean;
}

export interface ScenarioValues {
  toml: string;
  links: LinkValues[];
  rto_min: string | null;
  duration: string | null;
  sender: string | null;
}

export interface CapturedConnection {
  number: number;
  vantage: string;
  from: string;
  packets: number;
  drawn: number;
  end_s: number;
  disturbances: Disturbance[];
  episodes: { at_s: number; frame: number; description: string }[];
  findings: string[];
  retransmissions: Record<string, unknown>[];
  senders: [Omit<Sender, "totals">];
}

export interface Diagnosis {
  name: string;
  error: string | null;
  summary: Record<string, unknown>;
  connections: Record<string, unknown>[];
  /** The connections that suffered most. */
  pictures: CapturedConnection[];
}

/** An error in a request. */
export class RtolabError extends Error {
  /** "scenario", "set", "sender" or "request". */
  where: string;
  /** The line of the scenario's text, and its key. */
  line?: number | null;
  key?: string | null;
}

export interface Sources {
  /** The engine: rtolab.wasm. */
  module?: WebAssembly.Module | BufferSource;
  /** The diagnosis of captures: rtolab-captures.wasm. */
  captures?: WebAssembly.Module | BufferSource;
  /** Scenarios and their files by name, as JSON in UTF-8: texts.json. */
  texts?: ArrayBuffer | Uint8Array;
}

/** The engine. Every method but `diagnose` blocks: in a page, call it in a worker. */
export class Engine {
  /** The included scenarios. */
  readonly scenarios: { name: string; title: string }[];
  /** Policies and profiles, of which sender specifications consist. */
  readonly senders: { name: string; question: string; about: string }[];
  private constructor();
  /** One run for each sender. */
  run(request: RunRequest): Run;
  /** Throws the first error in a request. */
  check(request: RunRequest): void;
  /** The text of a scenario, and values of its links. */
  scenario(request: RunRequest): ScenarioValues;
  /** The outcome without a timeout, and with other senders from it on. */
  whatIf(request: TimeoutRequest): WhatIf;
  /** A run beside its fork at a timeout: without the timeout, or with the first of the other senders. */
  branch(request: TimeoutRequest): Run;
  /** The run of the first sender as a pcapng file. */
  pcapng(request: RunRequest): Uint8Array;
  /** The retransmissions of a capture (pcap or pcapng, also gzip or zstd) with their causes. */
  diagnose(name: string, capture: Uint8Array): Promise<Diagnosis>;
}

/** The engine, from the files of this package, or from `sources`. */
export function load(sources?: Sources): Promise<Engine>;
