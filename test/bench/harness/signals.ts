import { progress } from './progress.ts';

/** Stops servers on Ctrl-C, so that none is left behind. */
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
