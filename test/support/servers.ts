import { inject } from 'vitest';

/** Asks the run's global setup for a server; the first request starts it, which may take minutes on a first run. */
export async function askForServer<T>(path: string): Promise<T> {
  const response = await fetch(`${inject('parleyTestServers')}${path}`, { signal: AbortSignal.timeout(3_600_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`the test servers could not be started: ${text}`);
  return JSON.parse(text) as T;
}
