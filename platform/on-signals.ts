/** @returns a function that removes the listeners */
export function onSignals(signals: readonly NodeJS.Signals[], listener: () => void): () => void {
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}
