/** What is to be signed is not what it says it is, or not what was asked for. Do not sign. */
export class Altered extends Error {
  override readonly name = "Altered"
  /** The part that differs, as it is named in the answer: `message.raw`, `chains.0.policy`. */
  readonly part: string

  constructor(part: string, reason: string) {
    super(`Do not sign: ${part} ${reason}`)
    this.part = part
  }
}

/** Fails with the part's name unless both are the same; addresses and hashes may differ in case. */
export const requireSame = (
  part: string,
  { expected, given }: { readonly given: string; readonly expected: string },
  reason: string
): void => {
  if (given.toLowerCase() !== expected.toLowerCase()) throw new Altered(part, `${reason}: it is ${given}`)
}
