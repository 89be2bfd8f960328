/** Installs the chart parley-demo with one command, does what its notes say, calls the agent, and takes everything away again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openPage } from '../integration/cli-call/browser.ts';
import { pretendMicrophone, speak } from '../integration/cli-call/microphone.ts';
import { callLines, spokenByAgent } from '../support/call-lines.ts';
import { eventually } from '../support/eventually.ts';
import type { Checks } from './checks.ts';
import { importImage } from './containerd.ts';
import { DEMO_IMAGES, DEMO_TAG, demoImageName } from './demo-images.ts';
import { IMAGE } from './installation.ts';
import { output } from './output.ts';

const RELEASE = 'parley-demo';
const ORGANIZATION = 'demo';

export interface DemoOptions {
  readonly kubectl: readonly [string, ...string[]];
  readonly helm: string;
  readonly kubeconfig: string;
  readonly containerdSocket: string;
  /** Runs the command of this checkout. */
  readonly parley: readonly [string, ...string[]];
  readonly root: string;
  readonly work: string;
  /** Tag of Parley's image. */
  readonly tag: string;
  readonly checks: Checks;
}

export async function runDemo(options: DemoOptions): Promise<void> {
  const { kubectl, helm, kubeconfig, root, work, parley } = options;
  const check = options.checks.check.bind(options.checks);
  const inNamespace = [...kubectl, '--namespace', RELEASE] as const;
  const env: NodeJS.ProcessEnv = { ...process.env, KUBECONFIG: kubeconfig, PATH: `${programsFolder(options)}:${process.env['PATH']}` };
  const helmIn = (...args: string[]) => output([helm, '--namespace', RELEASE, ...args], { env, timeoutMs: 600_000 });
  const chart = join(root, 'charts/parley-demo');
  const valuesFile = join(work, 'demo-values.yaml');
  writeFileSync(valuesFile, JSON.stringify(demoValues(options.tag)));
  const forwards: ChildProcess[] = [];
  let notes = '';
  let address = new URL('http://127.0.0.1');
  let speech = '';
  const passwords = () => output([...inNamespace, 'get', 'secret', 'parley-demo', '-o', 'jsonpath={.data}']);

  await check('the images and volumes of the demo', async () => {
    for (const name of DEMO_IMAGES)
      await importImage({
        socket: options.containerdSocket,
        archive: join(work, 'demo-images', `${name}.tar`),
        name: demoImageName(name),
      });
    await makeVolumes(options);
  });
  await check('helm install parley-demo: one command, every pod Ready', async () => {
    const args = [chart, '--create-namespace', '--values', valuesFile, '--wait', '--timeout', '240s'];
    notes = await helmIn('install', RELEASE, ...args);
    await output([
      ...inNamespace,
      'wait',
      'pod',
      '-l',
      'app.kubernetes.io/instance=parley-demo,!batch.kubernetes.io/job-name',
      '--for=condition=Ready',
      '--timeout=60s',
    ]);
    const pods = await output([...inNamespace, 'get', 'pods', '--no-headers']);
    return `${pods.trim().split('\n').length} pods`;
  });
  await check('the example agent becomes Ready', async () => {
    await output([
      ...kubectl,
      '--namespace',
      ORGANIZATION,
      'wait',
      'agents,tools,knowledgebases',
      '--all',
      '--for=condition=Ready',
      '--timeout=120s',
    ]);
  });
  await check('what the notes say leads to the page for calls, and to a call by its key', async () => {
    const commands = commandsOf(notes);
    for (const command of commands.filter((line) => line.endsWith('&')))
      forwards.push(spawn('sh', ['-c', `exec ${command.slice(0, -1)}`], { env, stdio: 'ignore' }));
    const print = commands.find((line) => line.startsWith('echo'));
    if (forwards.length !== 2 || print === undefined) throw new Error(`the notes have other commands:\n${commands.join('\n')}`);
    address = new URL((await output(['sh', '-c', print], { env })).trim());
    await eventually(async () => {
      const response = await fetch(address);
      if (!response.ok || !(await response.text()).includes('<title>')) throw new Error(`${address.href} answers ${response.status}`);
    });
    const key = new URLSearchParams(address.hash.slice(1)).get('key') ?? '';
    speech = await output([...inNamespace, 'get', 'service', 'robot', '-o', 'jsonpath=http://{.spec.clusterIP}:{.spec.ports[0].port}/v1']);
    const call = ['call', 'receptionist', '--say', 'What are your opening hours?', '--json', '--max-seconds', '60'];
    const caller = { ...env, PARLEY_URL: address.origin, PARLEY_API_KEY: key, PARLEY_SPEECH_URL: speech };
    const said = await output([...parley, ...call], { env: caller });
    const [welcome, answer] = spokenByAgent(callLines(said.split('\n')));
    if (answer === undefined) throw new Error(`${welcome === undefined ? 'not even a welcome' : 'no answer'}: ${said}`);
    return answer;
  });
  await check('a browser whose only way to the cluster is kubectl port-forward holds a call', async () => {
    const livekit = await output([
      ...inNamespace,
      'get',
      'pods',
      '-l',
      'app.kubernetes.io/name=livekit',
      '-o',
      'jsonpath={.items[0].status.podIP}',
    ]);
    // The kubelet's probes go to another port.
    const close = (change: '-I' | '-D', ...what: readonly string[]) =>
      output(['iptables', change, 'OUTPUT', '-d', livekit, '-p', ...what, '-j', 'REJECT']);
    await close('-I', 'udp');
    await close('-I', 'tcp', '--dport', '7881');
    const page = await openPage({ folder: work, loopbackMedia: false });
    try {
      await pretendMicrophone(page, await spoken(speech, 'What are your opening hours?'));
      await page.goTo(`${address.href}&agent=receptionist`);
      const says = async (text: string) => {
        await eventually(async () => {
          const seen = await page.run<string>('document.body.innerText');
          if (!seen.includes(text)) throw new Error(`the page says: ${seen}`);
        });
      };
      await eventually(async () => {
        if (!(await page.run<boolean>(`!document.getElementById('start').closest('[hidden]')`))) throw new Error('there is no start');
      });
      await page.run(`document.getElementById('start').click()`);
      await says('How can I help you?');
      await says('The agent listens.');
      await speak(page);
      await says('Monday to Friday from 9 to 18');
      await page.run(`document.getElementById('hang-up').click()`);
    } finally {
      await page.close();
      await close('-D', 'udp');
      await close('-D', 'tcp', '--dport', '7881');
    }
  });
  await check('helm upgrade keeps the passwords, and migrates again', async () => {
    const before = await passwords();
    await helmIn('upgrade', RELEASE, chart, '--reuse-values', '--wait', '--wait-for-jobs', '--timeout', '240s');
    if ((await passwords()) !== before) throw new Error('the Secret has changed');
    await output([...inNamespace, 'wait', 'job/migrate-2', '--for=condition=Complete', '--timeout=60s']);
  });
  for (const forward of forwards) forward.kill();
  await check('the demo goes as its page says', async () => {
    await output([...kubectl, 'delete', 'parley', '--all', '--all-namespaces', '--timeout=120s']);
    await helmIn('uninstall', RELEASE, '--wait', '--timeout', '180s');
    const definitions = (await output([...kubectl, 'get', 'crd', '-o', 'name'])).split('\n').filter((name) => name.endsWith('.parley.dev'));
    await output([...kubectl, 'delete', ...definitions]);
    await output([...kubectl, 'delete', 'namespace', RELEASE, ORGANIZATION, '--timeout=120s']);
    await output([...kubectl, 'delete', 'persistentvolume', '-l', 'for=demo']);
  });
}

/** Returns a folder with kubectl, as the notes' commands look for it. */
function programsFolder({ kubectl, work }: DemoOptions): string {
  const folder = join(work, 'demo-bin');
  mkdirSync(folder, { recursive: true });
  symlinkSync(kubectl[0], join(folder, 'kubectl'));
  return folder;
}

/** Returns what the robot says, as a WAV file. @param speech its address */
async function spoken(speech: string, input: string): Promise<Buffer> {
  const body = JSON.stringify({ model: 'tts-1', voice: 'alloy', input, response_format: 'wav' });
  const response = await fetch(`${speech}/audio/speech`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (!response.ok) throw new Error(`the robot answers ${response.status}: ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

const commandsOf = (notes: string): readonly string[] =>
  notes
    .split('\n')
    .filter((line) => /^ {2}(kubectl|echo)/.test(line))
    .map((line) => line.trim());

function demoValues(tag: string): object {
  return {
    images: Object.fromEntries(DEMO_IMAGES.map((name) => [name, `${demoImageName(name)}:${DEMO_TAG}`])),
    imagePullPolicy: 'Never',
    parley: { image: { repository: IMAGE, tag, pullPolicy: 'Never' } },
  };
}

/** Makes the volumes that a StorageClass would make in kind and k3s: folders of the node that everybody may write to. */
async function makeVolumes({ kubectl, work }: DemoOptions): Promise<void> {
  const items = [1, 2, 3].map((number) => {
    const path = join(work, `demo-volume-${number}`);
    mkdirSync(path);
    chmodSync(path, 0o777);
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `demo-${number}`, labels: { for: 'demo' } },
      spec: {
        capacity: { storage: '4Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path },
      },
    };
  });
  await output([...kubectl, 'apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
}
