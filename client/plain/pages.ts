/** Lists of the API, a page or an item at a time. */
import { BallastError } from "#client/transport/BallastError.ts"

export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null
}

/** A list. Nothing is asked before it is iterated; leaving the loop asks for nothing more. */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** One page: the first, or the one that begins at a cursor. */
  readonly page: (cursor?: string) => Promise<Page<Item>>
}

/** `ask` is given the cursor of a page, undefined for the first. */
export const pagesOf = <Item>(ask: (cursor?: string) => Promise<Page<Item>>): Pages<Item> => ({
  page: ask,
  async *[Symbol.asyncIterator]() {
    let cursor: string | undefined
    while (true) {
      const { items, nextCursor } = await ask(cursor)
      yield* items
      if (nextCursor === null) return
      if (nextCursor === cursor) {
        throw new BallastError({ code: "UNEXPECTED_ANSWER", message: "The list does not go on: a page names itself" })
      }
      cursor = nextCursor
    }
  }
})
