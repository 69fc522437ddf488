/**
 * The owner's way out on Solana, without the service: `solana leave --wallet <address>`, with a node at SOLANA_RPC_URL,
 * a Solana key that pays and receives in SOLANA_OWNER_PRIVATE_KEY, and, of an owner with an EVM wallet, its key in
 * SOLANA_OWNER_EVM_PRIVATE_KEY.
 */
import { Keypair, PublicKey } from "@solana/web3.js"
import { Console, Effect, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Base58 from "#domain/values/Base58.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { type Hex, hexToBytes } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { EvmRoot } from "#layers/solana/withdrawal/leave/OwnerKey.ts"
import { leave, type Left } from "#layers/solana/withdrawal/leave.ts"
import { leaverConfig } from "#src/Config.ts"

/** Three of four recent blocks required less, up to a thousandth of a SOL a transaction. */
const fees = { percentile: 75, maxPriorityLamports: 1_000_000n }

const wallet = Flag.String("wallet").pipe(
  Flag.withDescription("Address of the Swig wallet: the last part of walletAccountId"),
  Flag.withSchema(Schema.String.check(Schema.makeFilter((text) => Base58.isBytes32(text))))
)

const leftText = ({ deposit, stayed, taken }: Left): string =>
  [
    `${deposit}: ${taken.length} assets taken out, ${stayed.length} stayed`,
    ...taken.map((assetId) => `  taken   ${assetId}`),
    ...stayed.map(([assetId, reason]) => `  stayed  ${assetId}: ${reason}`)
  ].join("\n")

const evmRoot = (evmKey: Redacted.Redacted): EvmRoot => {
  const account = privateKeyToAccount(Redacted.value(evmKey) as Hex)
  return {
    publicKey: hexToBytes(account.publicKey).slice(1),
    sign: (message) => account.signMessage({ message })
  }
}

const leaveCommand = Command.make(
  "leave",
  { wallet },
  Effect.fn(function* ({ wallet }) {
    const { evmKey, rpcUrls, seed } = yield* leaverConfig
    const key = Keypair.fromSeed(Redacted.value(seed))
    const owner = evmKey === null ? { key } : { key, evm: evmRoot(evmKey) }
    const left = yield* leave({ wallet: new PublicKey(wallet), owner, fees }).pipe(
      Effect.provide(SolanaRpc.layer(rpcUrls))
    )
    yield* Console.log(left.length === 0 ? "The wallet has no portfolio" : left.map(leftText).join("\n"))
  })
).pipe(Command.withDescription("Put the owner's key into the agent's roles and take everything out of all portfolios"))

/** Asks nothing of the service, so it needs neither its database nor its agent. */
export const solana = Command.make("solana").pipe(
  Command.withDescription("An owner's wallet on Solana"),
  Command.withSubcommands([leaveCommand])
)
