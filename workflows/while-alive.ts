/** Sends heartbeats to Temporal while the work runs, so that the death of its worker is noticed soon. */
export async function whileAlive<T>(heartbeat: () => void, everyMs: number, work: () => Promise<T>): Promise<T> {
  const alive = setInterval(heartbeat, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}
