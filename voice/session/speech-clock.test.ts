import { beforeEach, describe, expect, it } from 'vitest';

import { SpeechClock } from './speech-clock.ts';

let clock: SpeechClock;
beforeEach(() => {
  clock = new SpeechClock({ minSpeechDuration: 50, minSilenceDuration: 250 });
});

describe('who speaks', () => {
  it('is known since it began, not since it was noticed', () => {
    clock.agentSpeaks(true, 0);
    clock.userBegins(1_050);
    expect(clock.spokenOverAgentMs(1_500)).toBe(500);
    clock.userEnds(2_250);
    expect(clock.spokenOverAgentMs(9_000)).toBe(1_000);
    expect(clock.silentForMs(2_300)).toBe(300);
  });

  it('is measured by what was said, where a busy machine looks at it late', () => {
    clock.agentSpeaks(true, 0);
    clock.userBegins(1_000);
    clock.userPauses(1_000);
    clock.userEnds(3_500);
    expect(clock.spokenOverAgentMs(4_000)).toBe(1_000);
    // What they say now has not been understood yet.
    clock.userSpeaks();
    clock.userBegins(4_000);
    expect(clock.spokenOverAgentMs(4_100)).toBe(1_000);
    expect(clock.spokenOverAgentMs(5_950)).toBe(2_000);
  });

  it('of a pause is no part of what was said', () => {
    clock.agentSpeaks(true, 0);
    clock.userBegins(1_050);
    clock.userPauses(300);
    expect(clock.spokenOverAgentMs(1_500)).toBe(300);
    clock.userSpeaks();
    expect(clock.spokenOverAgentMs(1_800)).toBe(800);
  });

  it('speech that began before the agent spoke is not over the agent', () => {
    clock.userBegins(100);
    clock.agentSpeaks(true, 500);
    expect(clock.spokenOverAgentMs(900)).toBeUndefined();
  });

  it('an agent that was spoken over may fall silent', () => {
    clock.agentSpeaks(true, 0);
    clock.userBegins(100);
    clock.agentSpeaks(false, 600);
    expect(clock.beganOverAgent).toBe(true);
    clock.userBegins(2_000);
    expect(clock.beganOverAgent).toBe(false);
  });

  it('a silent agent is not spoken over', () => {
    expect(clock.spokenOverAgentMs(0)).toBeUndefined();
    clock.agentSpeaks(true, 0);
    clock.userBegins(100);
    clock.agentSpeaks(false, 200);
    expect(clock.spokenOverAgentMs(300)).toBeUndefined();
    expect(clock.silentForMs(300)).toBe(0);
  });
});
