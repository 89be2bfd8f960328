/** How long the pretended providers take to begin their answers, in milliseconds: what fast ones take. */
export const delays = { sttMs: 150, llmMs: 250, ttsMs: 100 } as const;
