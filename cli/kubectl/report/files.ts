/** Collects the files of a report while it is made. */
import { toYaml } from '../../output.ts';

export interface ReportFile {
  readonly path: string;
  readonly content: string;
  /** Says for the list what is in it. */
  readonly about: string;
}

export class Files {
  readonly #files: ReportFile[] = [];
  readonly #problems: string[] = [];

  text(path: string, about: string, content: string): void {
    this.#files.push({ path, about, content });
  }

  json(path: string, about: string, value: unknown): void {
    this.text(path, about, `${JSON.stringify(value, undefined, 2)}\n`);
  }

  async yaml(path: string, about: string, values: readonly unknown[]): Promise<void> {
    if (values.length === 0) return;
    const documents = await Promise.all(values.map((value) => toYaml(value)));
    this.text(path, about, documents.map((document) => `---\n${document}`).join(''));
  }

  /** Notes something that is missing in the report. */
  problem(text: string): void {
    if (!this.#problems.includes(text)) this.#problems.push(text);
  }

  get problems(): readonly string[] {
    return this.#problems;
  }

  get all(): readonly ReportFile[] {
    return [...this.#files].sort((a, b) => a.path.localeCompare(b.path));
  }
}
