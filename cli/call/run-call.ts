/** Makes one call from the terminal, from the first request to the recording in a file. */
import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import { dispose } from '@livekit/rtc-node';

import { aborted, unlessAborted } from '../../platform/aborted.ts';
import { withTimeout, type Clock } from '../../platform/clock.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import type { Sound } from '../../platform/wav.ts';
import { UserError } from '../../platform/user-error.ts';
import { OutgoingAudio } from '../../voice/caller/outgoing-audio.ts';
import { joinCall, type RoomCall, type RoomCallEvents } from '../../voice/caller/room-call.ts';
import { TurnTaking } from '../../voice/caller/turn-taking.ts';
import type { RestClient } from '../../api/client/rest-client.ts';
import { writePrivately } from '../write-privately.ts';
import { endOf, makeCall, recordingOf, type CallView } from './call-api.ts';
import type { Reporter } from './reporter.ts';
import { findProgram, openMicrophone, openSpeaker, players, recorders, type Device } from './sound/devices.ts';
import { readSound, speak, type SpeechServer } from './sound/speech.ts';

/** The caller says a text through the speech server, or plays a file. */
export type Utterance = { readonly say: string } | { readonly audio: string };

export interface CallCommand {
  readonly agent: string;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly data: Readonly<Record<string, string>>;
  /** Utterances in order; empty for the microphone. */
  readonly script: readonly Utterance[];
  /** True to stay after the last utterance, until the agent hangs up. */
  readonly stay: boolean;
  readonly speech: SpeechServer | undefined;
  /** File for the recording; true names it by the call's id, undefined makes none. */
  readonly record: string | true | undefined;
  readonly maxMs: number | undefined;
}

export interface CallSurroundings {
  readonly rest: RestClient;
  readonly reporter: Reporter;
  /** Its timers keep the process alive. */
  readonly clock: Clock;
  readonly path: string | undefined;
  /** Hangs up when it aborts. */
  readonly stop: AbortSignal;
}

/** Longest waits, in milliseconds. */
const AGENT_WITHIN_MS = 30_000;
const TURN_WITHIN_MS = 120_000;
const ANSWER_WITHIN_MS = 30_000;
const END_WITHIN_MS = 45_000;
const RECORDING_WITHIN_MS = 60_000;

/**
 * @returns the call as it was when it was over
 * @throws UserError when it can't be made, or talked in; the reason of `stop` when that comes first
 */
export async function runCall(command: CallCommand, surroundings: CallSurroundings): Promise<CallView> {
  const { rest, reporter, clock, stop } = surroundings;
  if (typeof command.record === 'string') await requireFolder(command.record);
  // Prepares the sounds before it makes the call, which is of no use without anything to say.
  const sounds = await prepare(command);
  const made = await makeCall(rest, command, stop);
  reporter.called(made);
  let failure: unknown;
  let served = false;
  try {
    served = await talk(made, { command, surroundings, sounds });
  } catch (error) {
    failure = error;
  }
  await dispose();
  if (failure !== undefined && !(failure instanceof NoAgentError)) throw failure;
  // A call that no agent joined stays registered: it does not end soon.
  const call = await endOf(rest, made.id, { clock, withinMs: served ? END_WITHIN_MS : 0 });
  const recording = command.record === undefined ? undefined : await keepRecording(call, command.record, surroundings);
  reporter.result({ call, recording });
  if (failure !== undefined && !stop.aborted) throw failure;
  return call;
}

const neverAborts = new AbortController().signal;

class NoAgentError extends UserError {}

async function prepare({ script, speech }: CallCommand): Promise<readonly Sound[]> {
  return Promise.all(
    script.map((utterance) => {
      if ('audio' in utterance) return readSound(utterance.audio);
      if (speech !== undefined) return speak(utterance.say, speech);
      throw new UserError('there is no speech server to say that with', {
        cure: 'with the local stack running: eval "$(parley env)"; elsewhere: --speech-url http://…/v1, or --audio <file.wav>',
      });
    }),
  );
}

interface Talk {
  readonly command: CallCommand;
  readonly surroundings: CallSurroundings;
  readonly sounds: readonly Sound[];
}

/** @returns whether an agent joined */
async function talk(made: Awaited<ReturnType<typeof makeCall>>, { command, surroundings, sounds }: Talk): Promise<boolean> {
  const { reporter, clock, path, stop } = surroundings;
  const turns = new TurnTaking(clock);
  const audio = new OutgoingAudio();
  const devices: Device[] = [];
  const agent = Promise.withResolvers<true>();
  const player = findProgram(players, path);
  let room: RoomCall | undefined;
  try {
    const events: RoomCallEvents = {
      onAgent: () => agent.resolve(true),
      onVoice: () => turns.arrived(),
      onAgentState: (state) => {
        turns.reported(state);
        reporter.agentState(state);
      },
      onWelcomed: () => turns.welcomed(),
      onLine: (line) => reporter.line(line),
      openSpeaker: () => player && openSpeaker(player, { onFailed: (why) => reporter.note(`no sound: ${why}`) }),
    };
    room = await joinCall(made, audio, events, clock);
    const over = new AbortController();
    const leaving = room.over.then(() => over.abort());
    const ended = AbortSignal.any([over.signal, stop, ...(command.maxMs === undefined ? [] : [AbortSignal.timeout(command.maxMs)])]);
    const served = await arrives(agent.promise, { clock, signal: ended });
    if (served) await unlessAborted(room.audible, ended);
    if (!served) {
      if (!ended.aborted)
        throw new NoAgentError(`no agent joined the call within ${AGENT_WITHIN_MS / 1_000} s`, {
          cure: 'is the voice role running? `parley dev status` shows it, and its log says why it takes no calls',
        });
    } else if (sounds.length > 0) {
      await recite(sounds, { turns, audio, reporter, signal: ended });
      if (command.stay) await aborted(ended);
    } else {
      const device = microphone(audio, { reporter, path });
      if (device !== undefined) devices.push(device);
      await aborted(ended);
    }
    await room.hangUp();
    await leaving;
    return served;
  } finally {
    for (const device of devices) device.stop();
    await audio.close();
    await room?.hangUp().catch(() => undefined);
  }
}

function microphone(audio: OutgoingAudio, { reporter, path }: Pick<CallSurroundings, 'reporter' | 'path'>): Device | undefined {
  const recorder = findProgram(recorders, path);
  if (recorder === undefined) {
    reporter.note('there is no microphone here (none of parecord, pw-record, arecord, rec): only listening. --say "…" speaks for you');
    return undefined;
  }
  reporter.note('talk: the microphone is on (with loudspeakers the agent hears itself: use a headset). Ctrl-C hangs up');
  return openMicrophone(recorder, {
    onSamples: (samples) => audio.hear(samples),
    onFailed: (why) => reporter.note(`the microphone is not heard: ${why}`),
  });
}

/** Says each utterance when the agent has finished, and hears the last answer to its end. */
async function recite(
  sounds: readonly Sound[],
  {
    turns,
    audio,
    reporter,
    signal,
  }: { readonly turns: TurnTaking; readonly audio: OutgoingAudio; readonly reporter: Reporter; readonly signal: AbortSignal },
): Promise<void> {
  for (const sound of sounds) {
    await turns.usersTurn(TURN_WITHIN_MS, signal);
    if (signal.aborted) return;
    await unlessAborted(audio.say(sound), signal);
    if (!(await turns.answering(ANSWER_WITHIN_MS, signal)) && !signal.aborted)
      reporter.note(`the agent has not answered within ${ANSWER_WITHIN_MS / 1_000} s`);
  }
  await turns.usersTurn(TURN_WITHIN_MS, signal);
}

async function arrives(agent: Promise<true>, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<boolean> {
  return (await withTimeout(clock, AGENT_WITHIN_MS, unlessAborted(agent, signal))) ?? false;
}

async function keepRecording(
  { _id: id, call_status: status }: CallView,
  wanted: string | true,
  { rest, reporter, clock, stop }: CallSurroundings,
): Promise<string | undefined> {
  if (status === 'registered') return undefined;
  const file = resolve(wanted === true ? `${id}.ogg` : wanted);
  try {
    // After Ctrl-C hung up, a second one ends the process by itself.
    const signal = stop.aborted ? neverAborts : stop;
    const recording = await recordingOf(rest, id, { clock, withinMs: RECORDING_WITHIN_MS, signal });
    if (recording === undefined) {
      reporter.note(signal.aborted ? 'the recording is not waited for' : `no recording has come within ${RECORDING_WITHIN_MS / 1_000} s`);
      return undefined;
    }
    await writePrivately(file, recording);
    return file;
  } catch (error) {
    reporter.note(`the recording is not kept: ${errorMessageOf(error)}`);
    return undefined;
  }
}

async function requireFolder(file: string): Promise<void> {
  const folder = dirname(resolve(file));
  await access(folder, constants.W_OK).catch((error: unknown) => {
    throw new UserError(`the recording can't be written to ${file}: nothing can be written into ${folder}`, { cause: error });
  });
}
