/** Plans of the agent, carried out on a test chain: built, checked by the guard, signed and landed. */
import { type Keypair, type PublicKey, VersionedTransaction } from "@solana/web3.js"
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { type Hex, hexToBytes } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { checkBytes } from "#layers/solana/guard/checkBytes.ts"
import type { Consent, Step, TransactionPlan } from "#layers/solana/swig/Plan.ts"
import { buildMessage, buildStep } from "#layers/solana/swig/buildTransaction.ts"
import { walletConfig } from "#layers/solana/swig/addresses.ts"
import { signedText } from "#layers/solana/swig/signedText.ts"
import { decodeSwigInstruction } from "#layers/solana/swig/SwigInstruction.ts"
import { decodeWalletState, type WalletState } from "#layers/solana/swig/WalletState.ts"
import type { TestChain } from "#test/sandbox/solana/support.ts"

export const planOf = (chain: TestChain, agent: PublicKey, steps: ReadonlyArray<Step>): TransactionPlan => ({
  agent,
  blockhash: chain.ledger.blockhashes.latest.blockhash,
  steps,
  lookupTables: []
})

/** What makes a wallet of its owner's with a role for the agent. */
export const firstSubAccount = (id: Uint8Array, owner: PublicKey): ReadonlyArray<Step> => {
  const consent: Consent = { _tag: "SignsTransaction", key: owner }
  return [
    { _tag: "CreateWallet", id, consent },
    { _tag: "AddAgent", id, consent },
    { _tag: "CreateSubAccount", id, roleId: 1 }
  ]
}

/** Builds, checks, signs and sends; answers the error with which it landed, and its size. */
export const submit = async (
  chain: TestChain,
  steps: ReadonlyArray<Step>,
  [agent, ...others]: readonly [Keypair, ...ReadonlyArray<Keypair>]
) => {
  const plan = planOf(chain, agent.publicKey, steps)
  const message = await buildMessage(plan)
  const checked = checkBytes(message.serialize(), plan)
  if (Result.isFailure(checked)) throw checked.failure
  const transaction = new VersionedTransaction(message)
  transaction.sign([agent, ...others])
  const bytes = transaction.serialize()
  const signature = await chain.connection.sendRawTransaction(bytes, { skipPreflight: true })
  const { value } = await chain.connection.getSignatureStatus(signature)
  return { error: value === null ? "never landed" : value.err, bytes: bytes.length, signature }
}

export const walletAt = (chain: TestChain, id: Uint8Array): WalletState =>
  decodeWalletState(chain.ledger.account(walletConfig(id).address)!.data)

export const newWalletId = (): Uint8Array => Uint8Array.from(randomBytes(32))

export interface EvmOwner {
  readonly publicKey: Uint8Array
  readonly sign: (text: string) => Promise<Uint8Array>
}

export const newEvmOwner = (): EvmOwner => {
  const account = privateKeyToAccount(generatePrivateKey())
  return {
    publicKey: hexToBytes(account.publicKey).slice(1),
    sign: async (message) => hexToBytes((await account.signMessage({ message })) as Hex)
  }
}

/** What the owner's wallet signs so that the agent gets a role: by the text that clients build themselves. */
export const consentOf = async (
  owner: EvmOwner,
  { agent, id, odometer, slot }: { agent: PublicKey; id: Uint8Array; odometer: number; slot: bigint }
): Promise<Consent> => {
  const unsigned = { _tag: "PersonalSignature" as const, publicKey: owner.publicKey, slot, odometer }
  const draft = await buildStep(agent, {
    _tag: "AddAgent",
    id,
    consent: { ...unsigned, signature: new Uint8Array(65) }
  })
  const decoded = decodeSwigInstruction(draft.data)
  if (decoded._tag !== "AddAuthority") throw new Error("not an added authority")
  const text = signedText({ signed: decoded.signed, accounts: draft.keys, slot, odometer })
  return { ...unsigned, signature: await owner.sign(text) }
}
