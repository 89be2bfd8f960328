/** The one reader of what language models answer. */
export { argumentsProblem, argumentsToPass, describeProblem, rawArguments, rawArgumentsIn } from './call-arguments.ts';
export { hasWords } from './has-words.ts';
export { ModelStreamReader, type FailureReason, type ModelEvent } from './model-stream-reader.ts';
export { SseDecoder } from './sse-decoder.ts';
export type { ModelCall } from './tool-call-assembler.ts';
