/**
 * All that Parley changes or uses of LiveKit's agent library beyond its public types. A new version may have renamed or repaired any of it, so each
 * process refuses to start with another one than these patches were written for.
 *
 * | file | of `@livekit/agents` |
 * |---|---|
 * | `process-pool` | `ProcPool.prototype`, all of it; `InferenceProcExecutor.createIfNeeded` |
 * | `interrupted-answers` | `AgentActivity.prototype.onEndOfSpeech` and `.cancelSpeechPause`; its paused speech and timer |
 * | `unfinished-words` | `AgentActivity.prototype.onEndOfTurn` and `.onStartOfSpeech`; its `audioRecognition`; `Task.controller` |
 * | `recorder` | `RecorderIO.prototype.start` and `.startFFmpeg`; `sessionDirectory` of a `JobContext` |
 * | `room-audio` | `AgentSession._roomIO`, `RoomIO.audioInput.createStream`, `RoomIO.participantAudioOutput.startedFuture` |
 * | `paused-sound` | `ParticipantAudioOutput`: `captureFrame` of its source, `pause`, `resume`, `clearBuffer`, `waitForPlayoutTask` and its sums |
 * | `room-events` | of `@livekit/rtc-node`: `Room.onFfiEvent` |
 * | `media-library-log` | of `@livekit/rtc-node`: `_ffiClientInstance`, its `ffi_event`; of its bindings: `livekitInitialize`, a second time |
 * | `speech-in-progress` | `speechHandleStorage`; `SpeechHandle._hasGenerations` and `._waitForGeneration` |
 * | `library-log` | its logger, under `Symbol.for('@livekit/agents:logger')` |
 * | `measured-vad` | `sendVADEvent` and `inputWriter` of the VAD's streams |
 * | `end-of-turn-detector` | `predictionTimeout` of the turn detector's streams |
 * | `shared-turn-detector` | `_getLocalInferenceModule` |
 */
import { version } from '@livekit/agents';

import type { JobProcesses } from '../job-processes/job-processes.ts';
import type { SoundEncoder } from '../recording/encoder/index.ts';
import { keepInterruptedAnswersQuiet } from './interrupted-answers.ts';
import { keepMediaLibraryQuiet } from './media-library-log.ts';
import { replaceProcessPool } from './process-pool.ts';
import { recordWith } from './recorder.ts';
import type { SharedTurnDetector } from './shared-turn-detector.ts';
import { keepTurnsOpen } from './unfinished-words.ts';

export { EndOfTurnDetector, type EndOfTurnDelays } from './end-of-turn-detector.ts';
export { logLibrary } from './library-log.ts';
export { MeasuredVad } from './measured-vad.ts';
export { recordInto } from './recorder.ts';
export { resumeAnswer } from './interrupted-answers.ts';
export { ignoreSound } from './room-events.ts';
export { joinRoom, speakToNobody } from './room-audio.ts';
export { SharedTurnDetector } from './shared-turn-detector.ts';
export { currentSpeech, settled } from './speech-in-progress.ts';
export { waitForWords } from './unfinished-words.ts';

export const PATCHED_VERSION = '1.9.0';

export class LiveKitVersionError extends Error {
  override readonly name = 'LiveKitVersionError';
}

/** @throws LiveKitVersionError for any other version than the patches were written for */
export function checkLiveKitVersion(installed: string = version): void {
  if (installed === PATCHED_VERSION) return;
  throw new LiveKitVersionError(
    `@livekit/agents ${installed} is installed, but the patches in voice/livekit-patches were written for ${PATCHED_VERSION}: ` +
      `install ${PATCHED_VERSION} (npm ci), or check each patch against the new version and change PATCHED_VERSION`,
  );
}

/** For every agent server of this process. @throws LiveKitVersionError */
export function patchAgentServer(processes: JobProcesses, turnDetector: SharedTurnDetector): void {
  checkLiveKitVersion();
  replaceProcessPool(processes, turnDetector);
}

/** For every session of this process. @throws LiveKitVersionError */
export function patchSessions(encoder: SoundEncoder): void {
  checkLiveKitVersion();
  keepMediaLibraryQuiet();
  keepInterruptedAnswersQuiet();
  keepTurnsOpen();
  recordWith(encoder);
}
