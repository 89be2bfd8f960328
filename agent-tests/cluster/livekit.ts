/** LiveKit's agent library in the worker: large, and loaded with the first test. */
import type { Logger } from '../../platform/logging.ts';

/** Once for the process. @throws LiveKitVersionError */
export async function loadLiveKit(logger: Logger): Promise<void> {
  // Otherwise the client of the media server writes a line for each connection.
  process.env['NODE_ENV'] ??= 'production';
  const [{ initializeLogger }, { checkLiveKitVersion }] = await Promise.all([
    import('@livekit/agents'),
    import('../../voice/livekit-patches/index.ts'),
  ]);
  checkLiveKitVersion();
  // Its lines repeat what the results of tests say, and some hold what the user said.
  initializeLogger({ pretty: false, level: 'silent' });
  // The library rejects some promises that it has no use for: the worker must not end for them.
  process.on('unhandledRejection', (err) => logger.warn({ err }, 'a promise was rejected, and nothing handled it'));
}
