/**
 * Loaded into a role's process before its own code: finds the longest turn of the event loop, in processor time of the main thread. While a turn
 * lasts nothing else is served; its processor time does not depend on what else the machine does.
 */
let longest = 0;
let before = process.threadCpuUsage();

// Timers that are due run once in each turn.
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before);
  before = process.threadCpuUsage();
  longest = Math.max(longest, (user + system) / 1000);
}, 1).unref();

process.on('message', () => {
  // The parent may be gone by now.
  process.send?.(longest, undefined, undefined, () => undefined);
  longest = 0;
});
process.channel?.unref();
