import { setImmediate } from 'node:timers/promises';

import { initializeLogger, Task, VADEventType, type voice } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

// As the patch does.
import { AgentActivity } from '../../node_modules/@livekit/agents/dist/voice/agent_activity.js';
import { eventually } from '../../test/support/eventually.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { syntheticSpeech } from '../../test/support/synthetic-speech.ts';
import { MeasuredVad } from './measured-vad.ts';
import { keepTurnsOpen, waitForWords, type Hearing } from './unfinished-words.ts';

const clock = new FakeClock();
const committed = vi.fn<(turn: object) => Promise<boolean>>(() => Promise.resolve(true));

beforeAll(() => {
  initializeLogger({ pretty: false, level: 'silent' });
  AgentActivity.prototype.onEndOfTurn = committed;
  keepTurnsOpen(clock);
});
beforeEach(() => committed.mockClear());

function activityWith(parts: object): { onEndOfTurn(turn: object): Promise<boolean> } {
  return Object.assign(Object.create(AgentActivity.prototype) as never, parts);
}

/** Its silence is long enough. */
function endingTurn({ vad = { reading: () => () => false } }: { readonly vad?: Hearing['vad'] } = {}) {
  const session = {} as voice.AgentSession;
  const audioRecognition = { isClosed: false };
  const hearing = { stt: { recognizes: true }, vad };
  waitForWords(session, hearing);
  const activity = activityWith({ agentSession: session, audioRecognition });
  const turn = { newTranscript: 'I have', endOfUtteranceDelay: 500 };
  const task = Task.from(() => activity.onEndOfTurn(turn));
  return { task, turn, known: () => (hearing.stt.recognizes = false), close: () => (audioRecognition.isClosed = true) };
}

describe('the end of a turn', () => {
  it('waits for words under way, and says how long in all', async () => {
    const { task, known } = endingTurn();
    await clock.advance(200);
    expect(task.done).toBe(false);
    known();
    await clock.advance(20);
    expect(await task.result).toBe(true);
    expect(committed).toHaveBeenCalledExactlyOnceWith({ newTranscript: 'I have', endOfUtteranceDelay: 720 });
  });

  it('is none once words come or the user goes on: LiveKit has cancelled it', async () => {
    const { task, known } = endingTurn();
    task.cancel();
    known();
    await expect(task.result).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(committed).not.toHaveBeenCalled();
  });

  it('comes with the end of the call', async () => {
    const { task, close } = endingTurn();
    await settle();
    close();
    await clock.advance(20);
    expect(task.done).toBe(true);
    expect(await task.result).toBe(true);
  });

  it('comes after five seconds where the words do not', async () => {
    const { task } = endingTurn();
    await clock.advance(4_999);
    expect(task.done).toBe(false);
    await clock.advance(1);
    expect(await task.result).toBe(true);
  });

  it('is none where the user goes on in sound that came while the process stood still', async () => {
    const vad = new MeasuredVad({ minSpeechDuration: 50, minSilenceDuration: 250, onPause: () => undefined });
    const stream = vad.stream();
    const speech = syntheticSpeech({ sampleRate: 16_000, ms: 300 });
    // What has come is taken after the timers, as that of the turn.
    const come = async (): Promise<void> => {
      await setImmediate();
      for (let at = 0; at + 512 <= speech.length; at += 512) stream.pushFrame(new AudioFrame(speech.slice(at, at + 512), 16_000, 1, 512));
    };
    const came = come();
    const { task, known } = endingTurn({ vad });
    known();
    void (async () => {
      for await (const { type } of stream) if (type === VADEventType.START_OF_SPEECH) task.cancel();
    })();
    await came;
    const isBeingRead = vad.reading();
    await eventually(() => expect(isBeingRead()).toBe(false), 1);
    await setImmediate();
    await clock.advance(1);
    await expect(task.result).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(committed).not.toHaveBeenCalled();
    stream.close();
  });

  it('comes after fifteen seconds where the sound is never read', async () => {
    const { task, known } = endingTurn({ vad: { reading: () => () => true } });
    known();
    await clock.advance(14_999);
    expect(task.done).toBe(false);
    await clock.advance(1);
    expect(await task.result).toBe(true);
  });

  it('has times also where its speech was read within moments', async () => {
    const now = clock.now();
    const audioRecognition = { isClosed: false, userTurnStart: now - 480, lastSpeakingTime: now - 500, lastFinalTranscriptTime: now - 200 };
    const session = {} as voice.AgentSession;
    waitForWords(session, { stt: { recognizes: false }, vad: { reading: () => () => false } });
    const activity = activityWith({ agentSession: session, audioRecognition });
    await Task.from(() => activity.onEndOfTurn({ newTranscript: 'I have', endOfUtteranceDelay: undefined })).result;
    expect(committed).toHaveBeenCalledExactlyOnceWith({
      newTranscript: 'I have',
      startedSpeakingAt: now - 500,
      stoppedSpeakingAt: now - 500,
      transcriptionDelay: 300,
      endOfUtteranceDelay: 500,
    });
  });

  it('waits for nothing where all words are known, or in a session without sound', async () => {
    const turn = { endOfUtteranceDelay: 500 };
    const { known, task } = endingTurn();
    known();
    await task.result;
    committed.mockClear();
    void activityWith({ agentSession: {} }).onEndOfTurn(turn);
    expect(committed).toHaveBeenCalledExactlyOnceWith(turn);
  });
});
