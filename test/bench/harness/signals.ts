import { progress } from './progress.ts';

/** Ctrl-C in the middle leaves no server behind. */
export function watchSignals(stop: () => Promise<void>): { readonly interrupted: () => boolean; readonly forget: () => void } {
  let interrupted = false;
  const handle = (signal: NodeJS.Signals): void => {
    interrupted = true;
    progress(`${signal}: stopping the servers`);
    void stop().finally(() => process.exit(1));
  };
  process.once('SIGINT', handle);
  process.once('SIGTERM', handle);
  return {
    interrupted: () => interrupted,
    forget: () => {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}
