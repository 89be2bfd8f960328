/** Makes a voice louder or quieter. Loud parts are bent and not cut off, which would crackle. */

/** Share of the highest sample from which on loud parts are bent. */
const KNEE = 0.7;
const HIGHEST = 32_767;

/** Returns the samples at another volume. @param volume 1 is as they are */
export function atVolume(samples: Int16Array, volume: number): Int16Array {
  const knee = KNEE * HIGHEST;
  return samples.map((sample) => {
    const wanted = sample * volume;
    const beyond = Math.abs(wanted) - knee;
    // What gets quieter stays below what it was.
    if (volume < 1 || beyond <= 0) return Math.round(wanted);
    return Math.round(Math.sign(wanted) * (knee + (HIGHEST - knee) * Math.tanh(beyond / (HIGHEST - knee))));
  });
}
