declare module 'snowball-stemmers' {
  interface Stemmer {
    /** @param word a word in lower case */
    stem(word: string): string;
  }
  const snowball: {
    /** @throws Error for a name that is not among {@link algorithms} */
    newStemmer(algorithm: string): Stemmer;
    algorithms(): string[];
  };
  export default snowball;
}
