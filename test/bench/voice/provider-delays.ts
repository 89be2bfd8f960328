/** Delays of the pretended providers' answers, in milliseconds, as fast ones have. Streaming ones have heard all but the end. */
export const delays = { sttMs: 150, streamedSttMs: 100, llmMs: 250, ttsMs: 100 } as const;

/** Time that the recogniser takes for a word, and delay of a streaming one, in milliseconds. */
export const words = { everyMs: 400, lateMs: 150 } as const;
