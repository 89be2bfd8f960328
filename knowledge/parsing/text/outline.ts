interface Section {
  readonly level: number;
  readonly title: string;
}

/** The titles of the sections around the place that is being read. */
export class Outline {
  #open: readonly Section[] = [];

  /** Enters a heading: closes the sections of its level and below, and opens its own. @returns the path with the heading last */
  enter(level: number, title: string): readonly string[] {
    this.#open = [...this.#open.filter((section) => section.level < level), { level, title }];
    return this.path;
  }

  get path(): readonly string[] {
    return this.#open.map((section) => section.title);
  }
  /** @returns a function that goes back to the sections that are open now */
  mark(): () => void {
    const open = this.#open;
    return () => {
      this.#open = open;
    };
  }
}
