/** Lists every listening socket of a process tree, and tries what each gives to somebody without credentials. Linux only. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ListeningSocket {
  readonly protocol: 'tcp' | 'udp';
  readonly address: string;
  readonly port: number;
  readonly pid: number;
}

/** Lists the sockets of the process and its descendants, in this network: ports of another one cannot be reached here. */
export function listeningSockets(root: number): readonly ListeningSocket[] {
  const owners = new Map(descendants(root).flatMap((pid) => socketsOf(pid).map((inode) => [inode, pid] as const)));
  return (['tcp', 'tcp6', 'udp', 'udp6'] as const).flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
        const pid = owners.get(inode);
        // 0A is the state LISTEN.
        if (pid === undefined || (table.startsWith('tcp') && state !== '0A')) return [];
        const [address = '', port = ''] = local.split(':');
        return [{ protocol: table.slice(0, 3) as 'tcp' | 'udp', address: readable(address), port: Number.parseInt(port, 16), pid }];
      }),
  );
}

function readable(hex: string): string {
  const words = (hex.match(/.{8}/g) ?? []).map((word) => (word.match(/../g) ?? []).toReversed());
  return words.length === 1 ? words[0]!.map((byte) => Number.parseInt(byte, 16)).join('.') : words.flat().join('');
}

function descendants(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      // The name of a program may hold spaces and brackets.
      const parent = Number(
        readFileSync(`/proc/${name}/stat`, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ')[1],
      );
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // The process has ended.
    }
  }
  const found = [root];
  for (let at = 0; at < found.length; at += 1) found.push(...(children.get(found[at]!) ?? []));
  return found;
}

function socketsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
