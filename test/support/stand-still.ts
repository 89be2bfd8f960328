/** Holds this whole process, its timers and sockets too, as a machine does that stalls: the fault of a test, not a wait for a condition. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
