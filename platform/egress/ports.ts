/** A range of ports, both ends included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** The web's own ports, and those that need no privilege: the rest belongs to mail, DNS, SSH and others that HTTP can be smuggled into. */
export const DEFAULT_PORTS = '80,443,1024-65535';

/** Formats ports for a message: `80, 443 and 1024-65535`. */
export function shownPorts(ports: readonly PortRange[]): string {
  return new Intl.ListFormat('en-GB').format(ports.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)));
}

/** Reads ports like {@link parsePorts}, or none from an empty text. @throws RangeError as {@link parsePorts} */
export const parseDeniedPorts = (text: string): readonly PortRange[] => (text.trim() === '' ? [] : parsePorts(text));

/**
 * Reads `80,443,1024-65535`.
 *
 * @throws RangeError naming the part that is neither a port nor a range.
 */
export function parsePorts(text: string): readonly PortRange[] {
  return text.split(',').map((part) => {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim());
    const from = Number(match?.[1]);
    const to = Number(match?.[2] ?? match?.[1]);
    if (match === null || from < 1 || to > 65_535 || from > to) {
      throw new RangeError(`${JSON.stringify(part.trim())} is not a port: write them as ${DEFAULT_PORTS}`);
    }
    return { from, to };
  });
}
