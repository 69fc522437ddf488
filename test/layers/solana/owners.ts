/** Portfolios on a test chain, enrolled by the adapter over JSON-RPC, and what tests do with them. */
import { type Keypair, Keypair as Keys, type PublicKey, VersionedTransaction } from "@solana/web3.js"
import { Duration, Effect, Redacted } from "effect"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import { agentRoleText } from "#layers/solana/enrollment/agentRoleText.ts"
import { acceptFromEvmOwner, issueForEvmOwner } from "#layers/solana/enrollment/evmOwner.ts"
import type { WalletSubAccount } from "#layers/solana/enrollment/Flow.ts"
import { addressesOf } from "#layers/solana/swig/PortfolioRole.ts"
import { acceptFromSolanaOwner, issueForSolanaOwner } from "#layers/solana/enrollment/solanaOwner.ts"
import { type Agent, localAgent } from "#layers/solana/lifecycle/Agent.ts"
import type { Attempt } from "#layers/solana/lifecycle/Attempt.ts"
import { executeAttempts, type LandingTiming } from "#layers/solana/lifecycle/executeAttempts.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { newJournal } from "#test/layers/solana/lifecycle/journal.ts"
import { sol, type TestChain } from "#test/sandbox/solana/support.ts"

export const fees = { percentile: 75, maxPriorityLamports: 1_000_000n }
export const tenantId = "tenant-of-the-tests" as TenantId

export const timing: LandingTiming = {
  commitment: "confirmed",
  resendEvery: Duration.millis(5),
  waitAtMost: Duration.seconds(20)
}

export const onChain =
  (chain: TestChain) =>
  <A, E>(effect: Effect.Effect<A, E, SolanaRpc>): Effect.Effect<A, E> =>
    Effect.provide(effect, SolanaRpc.layer([Redacted.make(chain.url)]))

export const newAgent = (chain: TestChain): Agent & { readonly pair: Keypair } => {
  const pair = Keys.generate()
  chain.ledger.airdrop(pair.publicKey, 10n * sol)
  return { ...localAgent(Redacted.make(pair.secretKey.slice(0, 32))), pair }
}

/** Blocks are made while the effect waits, as on a chain that lives. */
export const whileBlocksPass =
  (chain: TestChain) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.raceFirst(
      effect,
      Effect.forever(
        Effect.delay(
          Effect.sync(() => chain.ledger.advance(1n)),
          Duration.millis(5)
        )
      )
    )

/** Sends what is made, once. */
export const executed = <E>(chain: TestChain, make: Effect.Effect<Attempt, E, SolanaRpc>) =>
  whileBlocksPass(chain)(executeAttempts(newJournal(), make, timing))

/** What the owner's wallet does with an issued transaction. */
export const signIssued = (transaction: string, ...keys: ReadonlyArray<Keypair>): string => {
  const issued = VersionedTransaction.deserialize(Buffer.from(transaction, "base64"))
  issued.sign([...keys])
  return Buffer.from(issued.serialize()).toString("base64")
}

/** A portfolio of a Solana owner. */
export const enrollSolana = Effect.fnUntraced(function* (chain: TestChain, agent: Agent, owner: Keypair) {
  const issued = yield* issueForSolanaOwner({
    tenantId,
    owner: owner.publicKey,
    agent: agent.key,
    brand: "Ballast",
    fees
  })
  const signedTransaction = signIssued(issued.transaction, owner)
  const { flow } = issued
  const { outcome } = yield* executed(
    chain,
    acceptFromSolanaOwner({ fees, flow, owner: owner.publicKey, agent, signedTransaction })
  )
  return { outcome, place: flow as WalletSubAccount, ...addressesOf(flow), issued, signedTransaction }
})

export interface EvmWallet {
  readonly address: EvmAddress
  readonly publicKey: string
  readonly sign: (text: string) => Promise<string>
}

export const evmWalletOf = (account: PrivateKeyAccount): EvmWallet => ({
  address: account.address as EvmAddress,
  publicKey: account.publicKey,
  sign: (message) => account.signMessage({ message })
})

export const newEvmWallet = () => evmWalletOf(privateKeyToAccount(generatePrivateKey()))

/** What the client sends at stage 2: it builds the text itself. */
export const signatureOf = Effect.fnUntraced(function* (
  owner: EvmWallet,
  { agent, place, slot }: { readonly agent: PublicKey; readonly place: WalletSubAccount; readonly slot: bigint }
) {
  const text = agentRoleText({ agent, wallet: addressesOf(place).wallet, slot, odometer: place.odometer })
  const signature = yield* Effect.promise(() => owner.sign(text))
  return { userSecp256k1PublicKey: owner.publicKey, signature, currentSlot: slot }
})

/** A portfolio of an EVM owner. */
export const enrollEvm = Effect.fnUntraced(function* (chain: TestChain, agent: Agent, owner: EvmWallet) {
  const { flow } = yield* issueForEvmOwner({ tenantId, owner: owner.address, agent: agent.key })
  const word = yield* signatureOf(owner, { agent: agent.key, place: flow, slot: chain.ledger.slot })
  const { outcome } = yield* executed(chain, acceptFromEvmOwner({ flow, owner: owner.address, agent, word, fees }))
  return { outcome, place: flow, ...addressesOf(flow), word }
})
