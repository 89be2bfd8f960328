/** The one reader of what language models answer. */
export { argumentsProblem, argumentsToPass, describeProblem, rawArgumentsIn } from './call-arguments.ts';
export { ModelStreamReader, type ModelEvent } from './model-stream-reader.ts';
