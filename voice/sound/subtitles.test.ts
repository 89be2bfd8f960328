import type { Room } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { settle } from '../../test/support/fake-clock.ts';
import { FINAL_ATTRIBUTE, SEGMENT_ATTRIBUTE } from '../../calls/live-transcript.ts';
import { Subtitles } from './subtitles.ts';

/** Builds subtitles, and returns each stream as it was opened and closed. */
function someSubtitles({ onlyForUser = false } = {}) {
  const streams: string[] = [];
  const readers: unknown[] = [];
  const streamText = async ({
    senderIdentity,
    attributes,
    destinationIdentities,
  }: {
    readonly destinationIdentities?: readonly string[];
    readonly senderIdentity: string;
    readonly attributes: Record<string, string>;
  }) => {
    readers.push(destinationIdentities);
    const final = attributes[FINAL_ATTRIBUTE] === 'true' ? ' final' : '';
    let text = '';
    return {
      write: async (more: string) => void (text += more),
      close: async () => void streams.push(`${senderIdentity} ${attributes[SEGMENT_ATTRIBUTE]}${final}: ${text}`),
    };
  };
  const room = { isConnected: true, localParticipant: { identity: 'agent', streamText } } as unknown as Room;
  const subtitles = new Subtitles({ room, userIdentity: 'user', onlyForUser, logger: createLogger({ role: 'voice', level: 'silent' }) });
  return { subtitles, streams, readers };
}

it('shows the words of the user as they change, and those of the agent as they are heard', async () => {
  const { subtitles, streams } = someSubtitles();
  subtitles.user('I would', false);
  subtitles.user('I would like tea.', true);
  subtitles.agent(4, 'With', false);
  subtitles.agent(4, 'With milk?', true);
  subtitles.user('Yes.', true);
  await settle();
  expect(streams).toEqual([
    'user user-1: I would',
    'user user-1 final: I would like tea.',
    'agent agent-4: With milk?',
    'user user-2 final: Yes.',
  ]);
});

it('ends the line of words that are taken without their last version', async () => {
  const { subtitles, streams } = someSubtitles();
  subtitles.user('Cancel my order', false);
  subtitles.takeInterim();
  subtitles.takeInterim();
  subtitles.user('Are you', false);
  await settle();
  expect(streams).toEqual(['user user-1: Cancel my order', 'user user-1 final: Cancel my order', 'user user-2: Are you']);
});

it('is read by everybody in the room, or by the user alone', async () => {
  for (const [onlyForUser, readersWanted] of [
    [false, undefined],
    [true, ['user']],
  ] as const) {
    const { subtitles, readers } = someSubtitles({ onlyForUser });
    subtitles.user('tea', true);
    subtitles.agent(4, 'With milk?', true);
    await settle();
    expect(readers).toEqual([readersWanted, readersWanted]);
  }
});
