/**
 * What the chains of a script take: a relayer's nonces in order, a transaction once its fee is high enough, and what it
 * sent to another chain arrives there when the bridge delivers it. Everything is in a journal, so it outlives the
 * process.
 */
import { chainIdOf, evmAccount } from "#domain/values/Caip.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import type { Included } from "#test/fault/crash/chains/ChainWitness.ts"
import { hash, include, type KeepMap, type Payload, read, type TestMarket } from "#test/support/chains/TestMarket.ts"
import { addressOf } from "#layers/evm/address.ts"

interface Landed extends Pick<Payload, "accountId" | "transfers">, Included {
  readonly txHash: string
}

const at = (chainId: number, nonce: number) => `${chainId} ${nonce}`

/** How often a transaction is replaced before it is taken, and how many of an account's first ones offer too little. */
interface Tolls {
  readonly replacements: number
  readonly dear: number
}

export const makeScriptedChain = (market: TestMarket, keep: KeepMap, { dear, replacements }: Tolls) => {
  const used = keep<number, number>("used")
  const pending = keep<string, SignedTransaction>("pending")
  const landed = keep<string, Landed>("landed")
  const taken = keep<string, number>("taken")
  const takenFrom = (raw: string): number => taken.get(read(raw).accountId) ?? 0

  /** What it offers is too little, until enough of its account's transactions were taken back. */
  const isDear = ({ cancels, raw }: SignedTransaction): boolean => cancels === undefined && takenFrom(raw) < dear

  const settle = (chainId: number): void => {
    const nonce = used.get(chainId) ?? 0
    const next = pending.get(at(chainId, nonce))
    if (next === undefined || next.replaces.length < replacements) return
    const { actionHash, cancels, raw, txHash } = next
    if (cancels !== undefined) {
      market.takenBack.set(txHash, market.mine())
      taken.set(read(cancels).accountId, takenFrom(cancels) + 1)
      return takeNext(chainId, nonce)
    }
    if (isDear(next) && next.replaces.length === 0) return
    const { accountId, transfers } = read(raw)
    include(market, chainId, { actionHash, txHash, raw })
    const { success } = market.included.get(actionHash)!
    landed.set(at(chainId, nonce), { accountId, transfers, txHash, success, byRelayer: true })
    takeNext(chainId, nonce)
  }

  const takeNext = (chainId: number, nonce: number): void => {
    pending.delete(at(chainId, nonce))
    used.set(chainId, nonce + 1)
    settle(chainId)
  }

  return {
    isDear,
    usedNonces: (chainId: number) => used.get(chainId) ?? 0,
    landed: (): ReadonlyArray<Landed> => [...landed.values()],
    /** A nonce that is used is taken no more; a higher one waits for those before it. */
    send: (transaction: SignedTransaction): void => {
      const { chainId, nonce } = transaction
      if (nonce < (used.get(chainId) ?? 0)) return
      pending.set(at(chainId, nonce), transaction)
      settle(chainId)
    },
    /** Pays out on the other chain what a transaction sent there. */
    deliver: (txHash: string): void => {
      const sent = [...landed.values()].find((one) => one.txHash === txHash)
      for (const { buy, expectedRaw } of sent?.transfers ?? []) {
        const account = evmAccount(chainIdOf(buy), addressOf(sent!.accountId))
        const arrival = hash("arrival", market.draw())
        market.fund(account, buy, expectedRaw)
        const deltas = [{ assetId: buy, raw: expectedRaw }]
        market.arrivals.set(`${account} ${arrival}`, {
          success: true,
          isOwn: false,
          blockNumber: market.mine(),
          deltas
        })
        market.routes.set(txHash, { _tag: "Delivered", txHash: arrival })
      }
    }
  }
}

export type ScriptedChain = ReturnType<typeof makeScriptedChain>
