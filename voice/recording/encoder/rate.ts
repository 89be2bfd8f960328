/**
 * Sample rate of the agent's voice, in Hz: higher rates cost twice the CPU for sound that isn't there. An Ogg Opus file plays at 48 kHz
 * all the same.
 */
export const RECORDING_RATE = 24_000;
