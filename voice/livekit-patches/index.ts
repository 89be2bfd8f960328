/**
 * The patches hold all that Parley changes or uses of LiveKit's libraries beyond their public types. The test of each file fails where a new version has renamed or
 * repaired what it needs; a process whose library lacks it does not start.
 *
 * | file | of |
 * |---|---|
 * | `process-pool` | `@livekit/agents`: `ProcPool.prototype`, all of it; `InferenceProcExecutor.createIfNeeded` |
 * | `library-log` | `@livekit/agents`: its logger, under `Symbol.for('@livekit/agents:logger')` |
 * | `room-events` | `@livekit/rtc-node`: `Room.onFfiEvent` |
 * | `media-library-log` | `@livekit/rtc-node`: `_ffiClientInstance`, its `ffi_event`; of its bindings: `livekitInitialize`, a second time |
 */
export { logLibrary } from './library-log.ts';
export { keepMediaLibraryQuiet } from './media-library-log.ts';
export { replaceProcessPool } from './process-pool.ts';
export { ignoreSound } from './room-events.ts';
