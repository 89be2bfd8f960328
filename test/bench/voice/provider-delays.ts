/** How long the pretended providers take to begin their answers, in milliseconds: what fast ones take. Streaming ones have heard all but the end. */
export const delays = { sttMs: 150, streamedSttMs: 100, llmMs: 250, ttsMs: 100 } as const;

/** What the recogniser takes for a word, and how much later a streaming one has it, in milliseconds. */
export const words = { everyMs: 400, lateMs: 150 } as const;
