/** Milliseconds: a third of the shortest `heartbeatTimeout` of a workflow. */
const ALIVE_EVERY_MS = 3_000;

/** Sends heartbeats to Temporal while the work runs, so that the death of its worker is noticed soon. */
export async function whileAlive<T>(heartbeat: () => void, work: () => Promise<T>): Promise<T> {
  const alive = setInterval(heartbeat, ALIVE_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}
