/**
 * What a run prepared for one chain. It may send value to another chain, and the ledger has to have the intent of that
 * before anything is signed. So it is no `PreparedAction`, and `TransactionRelay` does not take it. Stored it is the
 * action alone.
 */
import { Schema, SchemaTransformation } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import {
  type ActionCost,
  type CostCeilings,
  costingWithin,
  foundFrom,
  PreparedAction,
  type ToSign,
  toSign
} from "#domain/relay/Transaction.ts"

const action: unique symbol = Symbol("action")

export class PreparedBatch {
  /** Readable in this file alone. */
  readonly [action]: PreparedAction

  constructor(prepared: PreparedAction) {
    this[action] = prepared
  }

  get accountId(): AccountId {
    return this[action].accountId
  }

  /** Names the action, as `PreparedAction` has it. */
  get actionHash(): string {
    return this[action].actionHash
  }

  /** The block, or the slot, from which on it may be found on its chain. */
  get foundFrom(): bigint {
    return foundFrom(this[action])
  }

  /** What a search for batches before it goes by. */
  get toSign(): ToSign {
    return toSign(this[action])
  }

  get cost(): ActionCost {
    return this[action]
  }

  /** Copies the batch with what it and its replacements may cost. */
  within(ceilings: CostCeilings): PreparedBatch {
    return new PreparedBatch(costingWithin(this[action], ceilings))
  }
}

/** The action, for the relay. Only once the ledger has the intent of what the batch sends to other chains. */
export const actionToSubmit = (batch: PreparedBatch): PreparedAction => batch[action]

export const StoredBatch = PreparedAction.pipe(
  Schema.decodeTo(
    Schema.instanceOf(PreparedBatch),
    SchemaTransformation.transform({
      decode: (prepared: PreparedAction) => new PreparedBatch(prepared),
      encode: (batch: PreparedBatch) => batch[action]
    })
  )
)
