/** How fast this machine is now: what is measured in processor time takes twice as long on a core that is half as fast, or shared. */
import { median } from '../bench/harness/stats.ts';

const megabyte = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ name: `value ${at}`, at, tags: ['a', 'b'] })));

/** Processor time for a megabyte of JSON, in milliseconds: 5 on a fast core, 12 on a slow one. */
export function parseMegabyteMs(): number {
  return median(
    Array.from({ length: 5 }, () => {
      const before = process.threadCpuUsage();
      JSON.parse(megabyte);
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1000;
    }),
  );
}
