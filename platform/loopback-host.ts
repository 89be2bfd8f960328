/** Tells whether a request names this machine, and not a foreign name that resolves to it. @param host the header, `name:port` */
export function isLoopbackHost(host: string | undefined, port: number): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].some((name) => host === `${name}:${port}`);
}
