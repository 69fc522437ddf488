/** What must happen in an order across calls does not type-check in another. */
import { assert, describe, it } from "@effect/vitest"
import { complaintsAbout } from "#test/client/complaintsAbout.ts"

/** Programs for one type of what is handed on: with `allowed` they type-check, with each of `refused` they do not. */
interface Bracket {
  readonly name: string
  readonly program: (type: string) => string
  readonly allowed: string
  readonly refused: ReadonlyArray<string>
}

const relayed = (type: string) => `
import { Effect } from "effect"
import type { PreparedBatch } from "#domain/trading/PreparedBatch.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { PreparedAction } from "#domain/relay/Transaction.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"

export const included = (attempt: AttemptId, prepared: ${type}) =>
  Effect.flatMap(TransactionRelay, (relay) => relay.submit(attempt, prepared, () => Effect.succeedNone))
export type Both = PreparedBatch | PreparedAction
`

const prepared = (type: string) => `
import { Effect } from "effect"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { SwapBatches, type SwapBatch } from "#domain/trading/SwapBatches.ts"

export const actionOf = (batch: ${type}) =>
  Effect.flatMap(SwapBatches, (execution) => execution.prepare(batch))
export type Transfers = ReadonlyArray<OutgoingTransfer>
export type Batch = SwapBatch
`

const subAccounts = `
import { type DateTime, Effect } from "effect"
import { type RecordedSubAccount, type SignedSubAccount, SolanaWallets } from "#domain/account/SolanaWallets.ts"
import { SubAccountJournal } from "#domain/enrollment/SubAccountJournal.ts"
import type { FlowId } from "#domain/values/Ids.ts"

export type SubAccounts = RecordedSubAccount | SignedSubAccount
`

const brackets: ReadonlyArray<Bracket> = [
  {
    name: "the relay takes what sends nothing to another chain",
    program: relayed,
    allowed: "PreparedAction",
    refused: ["PreparedBatch", `PreparedBatch["cost"]`]
  },
  {
    name: "what sends to another chain is prepared for a run",
    program: prepared,
    allowed: `Omit<SwapBatch, "transfers">`,
    refused: ["SwapBatch", `Omit<SwapBatch, "transfers"> & { readonly transfers: ReadonlyArray<OutgoingTransfer> }`]
  },
  {
    name: "what is sent to Solana is written down",
    program: (type) => `${subAccounts}
export const landed = (subAccount: ${type}) => Effect.flatMap(SolanaWallets, (wallets) => wallets.land(subAccount))
`,
    allowed: "RecordedSubAccount",
    refused: ["SignedSubAccount", "string"]
  },
  {
    name: "what is written down is signed",
    program: (type) => `${subAccounts}
export const recorded = (flowId: FlowId, subAccount: ${type}, at: DateTime.Utc) =>
  Effect.flatMap(SubAccountJournal, (journal) =>
    journal.record(flowId, { number: 1, ownerSignature: "", subAccount }, at))
`,
    allowed: "SignedSubAccount",
    refused: ["RecordedSubAccount", "string"]
  }
]

describe("an order of calls", () => {
  it("type-checks with what the call before has made, and with nothing else", async () => {
    const programs = brackets.flatMap(({ allowed, name, program, refused }) =>
      [allowed, ...refused].map((type) => ({
        code: program(type),
        title: `${name}: ${type}`,
        isAllowed: type === allowed
      }))
    )
    const complaints = await complaintsAbout(programs.map(({ code }) => code))
    const errors = complaints.flatMap((line) => {
      const [, index, code] = /(\d+)\.ts\(\d+,\d+\): error (TS\d+)/u.exec(line) ?? []
      return index === undefined ? [] : [{ title: programs[Number(index)]!.title, code }]
    })
    assert.sameMembers(
      errors.map(({ title }) => title),
      programs.filter(({ isAllowed }) => !isAllowed).map(({ title }) => title)
    )
    // An argument or a property of it has another type: none of the programs has another fault.
    for (const { code, title } of errors) assert.include(["TS2345", "TS2322", "TS2379"], code, title)
  })
})
