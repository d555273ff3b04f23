// Answers that contain columns of numbers.

/** An answer of columns: every `{type, at, count}` in its head becomes an array of numbers. */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return columns(head, buffer, 4 + length);
}

function columns(value, buffer, begin) {
  if (value === null || typeof value !== "object") return value;
  if ("type" in value && "at" in value && "count" in value) {
    const kind = value.type === "f8" ? Float64Array : Uint8Array;
    return new kind(buffer, begin + value.at, value.count);
  }
  for (const key of Object.keys(value)) value[key] = columns(value[key], buffer, begin);
  return value;
}
