/** While the work goes on Temporal hears of it, every so many milliseconds: a worker that dies in it is noticed soon. */
export async function whileAlive<T>(heartbeat: () => void, everyMs: number, work: () => Promise<T>): Promise<T> {
  const alive = setInterval(heartbeat, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}
