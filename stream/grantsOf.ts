/** What a ticket's target opens. Pure. */
import type { Grant, TicketTarget } from "#domain/stream/Ticket.ts"
import { assetTopic, collectionClass, collectionsOf, collectionTopic, nameOf } from "#domain/stream/Topic.ts"

/** The grants, or why the target makes no sense. */
export const grantsOf = (target: TicketTarget): ReadonlyArray<Grant> | string => {
  const { assetClass } = target
  if (target.kind === "collection") {
    const { collection } = target
    if (collectionClass[collection] !== assetClass)
      return `collection: ${collection} has no assets of class ${assetClass}`
    return [{ topic: nameOf(collectionTopic(collection)), symbols: [...new Set(target.symbols)].sort() }]
  }
  const { collectionFeeds, symbol } = target
  const wanted = collectionFeeds === true ? collectionsOf(assetClass) : collectionFeeds || []
  const foreign = wanted.find((namespace) => collectionClass[namespace] !== assetClass)
  if (foreign !== undefined) return `collectionFeeds: ${foreign} has no assets of class ${assetClass}`
  const topics = [assetTopic(assetClass, symbol), ...[...new Set(wanted)].map(collectionTopic)]
  return topics.map((topic) => ({ topic: nameOf(topic), symbols: [symbol] }))
}
