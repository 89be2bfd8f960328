/**
 * All that Parley changes or uses of LiveKit's agent library beyond its public types. A new version may have renamed or repaired any of it, so each
 * process refuses to start with another one than these patches were written for.
 *
 * | file | of `@livekit/agents` |
 * |---|---|
 * | `process-pool` | `ProcPool.prototype.launchJob`, `InferenceProcExecutor.createIfNeeded` |
 * | `interrupted-answers` | `AgentActivity.prototype.onEndOfSpeech` and `.cancelSpeechPause`; its paused speech and timer |
 * | `recorder` | `RecorderIO.prototype.start`; `sessionDirectory` and `_primaryAgentSession` of a `JobContext` |
 * | `room-audio` | `AgentSession._roomIO`, `RoomIO.audioInput.createStream` |
 * | `speech-in-progress` | `speechHandleStorage`; `SpeechHandle._hasGenerations` and `._waitForGeneration` |
 * | `library-log` | its logger, under `Symbol.for('@livekit/agents:logger')` |
 * | `measured-vad` | `sendVADEvent` of the VAD's streams |
 * | `end-of-turn-detector` | `predictionTimeout` of the turn detector's streams |
 * | `shared-turn-detector` | `_getLocalInferenceModule` |
 */
import { version } from '@livekit/agents';

import type { Logger } from '../../platform/logging.ts';
import type { AcceptedJobs } from '../accepted-jobs.ts';
import { keepInterruptedAnswersQuiet } from './interrupted-answers.ts';
import { launchInLiveProcesses } from './process-pool.ts';
import { recordAtRateOfVoice } from './recorder.ts';
import { SharedTurnDetector } from './shared-turn-detector.ts';

export { EndOfTurnDetector, type EndOfTurnDelays } from './end-of-turn-detector.ts';
export { logLibrary } from './library-log.ts';
export { MeasuredVad } from './measured-vad.ts';
export { recordInto, type RecordedJob } from './recorder.ts';
export { resumeAnswer } from './interrupted-answers.ts';
export { joinRoom } from './room-audio.ts';
export { currentSpeech, settled } from './speech-in-progress.ts';

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
export function patchAgentServer(accepted: AcceptedJobs, logger: Logger): void {
  checkLiveKitVersion();
  launchInLiveProcesses(accepted, new SharedTurnDetector(logger));
}

/** For every session of this process. @throws LiveKitVersionError */
export function patchSessions(): void {
  checkLiveKitVersion();
  keepInterruptedAnswersQuiet();
  recordAtRateOfVoice();
}
