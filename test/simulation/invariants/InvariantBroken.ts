/** Something that must always be so is not: what, and how the simulation shows it. */
export class InvariantBroken extends Error {
  readonly invariant: string

  constructor(invariant: string, detail: string) {
    super(detail)
    this.name = "InvariantBroken"
    this.invariant = invariant
  }
}
