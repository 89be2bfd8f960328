/** Draws a recording as columns: the loudest sample of each. */

/** @returns for each channel `columns` values, of which the highest of all is 1 */
export function peaksOf(channels: readonly Float32Array[], columns: number): readonly (readonly number[])[] {
  const peaks = channels.map((samples) => loudestOf(samples, columns));
  const highest = Math.max(...peaks.flat()) || 1;
  return peaks.map((channel) => channel.map((peak) => peak / highest));
}

function loudestOf(samples: Float32Array, columns: number): readonly number[] {
  return Array.from({ length: columns }, (_, column) => {
    const end = Math.floor(((column + 1) * samples.length) / columns);
    let peak = 0;
    for (let index = Math.floor((column * samples.length) / columns); index < end; index += 1)
      peak = Math.max(peak, Math.abs(samples[index] ?? 0));
    return peak;
  });
}

/** Returns the second of the recording at a click on the picture. */
export function secondAt(x: number, width: number, seconds: number): number {
  return width > 0 ? Math.min(1, Math.max(0, x / width)) * seconds : 0;
}
