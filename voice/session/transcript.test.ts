import { beforeEach, describe, expect, it } from 'vitest';

import { Transcript, type SpokenMessage } from './transcript.ts';

const from = 1_700_000_000_000;
let transcript: Transcript;
beforeEach(() => {
  transcript = new Transcript(from);
});

/** Times in seconds since the beginning. */
function said(role: string, text: string, { at = 0, ...metrics }: SpokenMessage['metrics'] & { readonly at?: number } = {}): SpokenMessage {
  return { role, text, interrupted: false, createdAt: from + at * 1000, metrics: { startedSpeakingAt: from / 1000 + at, ...metrics } };
}

describe('a transcript', () => {
  it('numbers what was said by its time, whatever is reported first', () => {
    const [user] = transcript.add(said('user', 'Stop!', { at: 5 }));
    const [agent] = transcript.add({ ...said('assistant', 'Once upon', { at: 2 }), interrupted: true });
    expect(user?.message).toMatchObject({ role: 'user', seq: 5_000, content: 'Stop!' });
    expect(agent?.message).toMatchObject({ role: 'agent', seq: 2_000, content: 'Once upon', interrupted: true });
    expect(agent?.message?.spokenAt).toEqual(new Date(from + 2_000));
  });

  it('gives no number twice, and none below zero', () => {
    const numbers = [-1, 0, 0, 0.0004].map((at) => transcript.add(said('assistant', 'x', { at }))[0]?.message?.seq);
    expect(numbers).toEqual([0, 1, 2, 3]);
  });

  it('leaves out empty messages and those to the model', () => {
    expect(transcript.add(said('user', '  '))).toEqual([]);
    expect(transcript.add(said('assistant', ''))).toEqual([]);
    expect(transcript.add(said('system', 'You are an agent.'))).toEqual([]);
  });

  it('measures a turn from the words of the user to those of the agent', () => {
    transcript.add(said('user', 'How much?', { at: 1, stoppedSpeakingAt: from / 1000 + 2, endOfTurnDelay: 0.5, transcriptionDelay: 0.3 }));
    transcript.agentSpeaks(from + 2_900);
    transcript.agentSpeaks(from + 9_000);
    const [entry] = transcript.add(said('assistant', 'Nine hundred.', { at: 2.9, llmNodeTtft: 0.2, ttsNodeTtfb: 0.1 }));
    expect(entry?.turn).toEqual({ seq: 2_900, eou: 500, stt: 300, llmTtft: 200, ttsTtfb: 100, v2v: 900 });
  });

  it('what a tool says meanwhile belongs to the turn: it is what the user hears first', () => {
    transcript.add(said('user', 'How much?', { at: 1, stoppedSpeakingAt: from / 1000 + 2 }));
    transcript.agentSpeaks(from + 2_500);
    const [filler] = transcript.add(said('assistant', 'One moment.', { at: 2.5, ttsNodeTtfb: 0.1 }));
    expect(filler).toMatchObject({ message: { content: 'One moment.' } });
    expect(filler?.turn).toBeUndefined();
    const [answer] = transcript.add(said('assistant', 'Nine hundred.', { at: 4, llmNodeTtft: 0.2, ttsNodeTtfb: 0.3 }));
    expect(answer?.turn).toMatchObject({ seq: 2_500, v2v: 500, llmTtft: 200, ttsTtfb: 100 });
  });

  it('a welcome message is no turn, and neither is what was never answered', () => {
    expect(transcript.add(said('assistant', 'Hello.', { ttsNodeTtfb: 0.1 }))[0]?.turn).toBeUndefined();
    transcript.add(said('user', 'Hm.', { at: 1 }));
    expect(transcript.add(said('user', 'Are you there?', { at: 9 }))).toHaveLength(1);
    expect(transcript.close()).toEqual([]);
  });

  it('closes with what is known of a turn that a tool alone has answered', () => {
    transcript.add(said('user', 'Bye.', { at: 1, endOfTurnDelay: 0.4 }));
    transcript.add(said('assistant', 'Good bye.', { at: 2 }));
    expect(transcript.close()).toEqual([{ turn: { seq: 2_000, eou: 400, stt: null, llmTtft: null, ttsTtfb: null, v2v: null } }]);
    expect(transcript.close()).toEqual([]);
  });

  it('puts sources to the next answer, and to no other', () => {
    transcript.addSources([{ chunk: 1 }], from + 900);
    transcript.addSources([{ chunk: 2 }], from + 950);
    expect(transcript.add(said('user', 'And?', { at: 1 }))[0]?.message?.sources).toBeNull();
    const [answer] = transcript.add(said('assistant', 'So.', { at: 2, llmNodeTtft: 0.3 }));
    expect(answer?.message?.sources).toEqual([{ chunk: 1 }, { chunk: 2 }]);
    expect(transcript.add(said('assistant', 'Well.', { at: 3, llmNodeTtft: 0.3 }))[0]?.message?.sources).toBeNull();
  });

  it('puts no sources to what is said before the answer that they are for', () => {
    transcript.addSources([{ chunk: 1 }], from + 2_100);
    const [announced] = transcript.add(said('assistant', 'Let me look.', { at: 2, llmNodeTtft: 0.3 }));
    const [byTool] = transcript.add(said('assistant', 'One moment.', { at: 3 }));
    const [answer] = transcript.add(said('assistant', 'At nine.', { at: 4, llmNodeTtft: 0.3 }));
    expect([announced, byTool, answer].map((entry) => entry?.message?.sources)).toEqual([null, null, [{ chunk: 1 }]]);
  });
});
