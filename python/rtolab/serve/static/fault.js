// Errors in requests.

/** An error with its place (`where`, `line`, `key`) and `message`. */
export class Fault extends Error {
  constructor(fault, status) {
    super(fault.message);
    Object.assign(this, { where: fault.where, line: fault.line, key: fault.key, status });
  }
}
