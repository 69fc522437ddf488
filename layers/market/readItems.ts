/** Reads the items of a provider's answer one by one, so that one without what it needs does not cost the others. */
import { Result, Schema } from "effect"
import { ItemMalformed } from "#domain/marketData/Dataset.ts"
import type { FetchedData } from "#domain/marketData/MarketDataJobs.ts"

/** Most items of one answer that are named; a provider that changed its format would name all of them. */
const maxProblems = 20

/** `toItem` returns undefined for an item that is well formed and has nothing of use. */
export const readItems = <Row, Item>(
  schema: Schema.Decoder<Row>,
  rows: ReadonlyArray<unknown>,
  toItem: (row: Row, index: number) => Item | undefined
): { readonly items: ReadonlyArray<Item>; readonly problems: ReadonlyArray<ItemMalformed> } => {
  const decode = Schema.decodeUnknownResult(schema)
  const items: Array<Item> = []
  const problems: Array<ItemMalformed> = []
  rows.forEach((row, index) => {
    const read = decode(row)
    if (Result.isSuccess(read)) {
      const item = toItem(read.success, index)
      if (item !== undefined) items.push(item)
    } else if (problems.length < maxProblems) {
      problems.push(new ItemMalformed({ item: `item ${index}`, reason: String(read.failure.issue).slice(0, 200) }))
    }
  })
  return { items, problems }
}

/** Items as a job brings them. */
export const fetchedItems = <Row, Item>(
  schema: Schema.Decoder<Row>,
  rows: ReadonlyArray<unknown>,
  toItem: (row: Row, index: number) => Item | undefined
): FetchedData => {
  const { items, problems } = readItems(schema, rows, toItem)
  return { data: items, problems }
}
