/**
 * The wallet in which an owner's next portfolio goes: the first that is the owner's and has a role left, or a new one.
 *
 * The program lets the root withdraw from sub-accounts of roles 0 to 10 alone, and ids of roles are not used again. A
 * wallet therefore gets 10 portfolios, and then the next wallet is opened: no portfolio is made that its owner could
 * not leave without the service.
 *
 * Any account may make a wallet at an id, or pay lamports to its address, which stops it from being made. Both are
 * passed over: a wallet counts only when its root is the owner.
 */
import { secp256k1 } from "@noble/curves/secp256k1"
import { sha256 } from "@noble/hashes/sha2"
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils"
import type { PublicKey } from "@solana/web3.js"
import { Effect, Option, Result } from "effect"
import { publicKeyToAddress } from "viem/accounts"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import { WalletsExhausted } from "#layers/solana/enrollment/errors.ts"
import type { Account } from "#layers/solana/rpc/Requests.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { swigProgram, walletConfig } from "#layers/solana/swig/addresses.ts"
import { MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { decodeWalletState, type WalletState } from "#layers/solana/swig/WalletState.ts"

/** The holder of the root: a Solana key, or an EVM wallet. */
export type WalletOwner =
  | { readonly _tag: "Solana"; readonly key: PublicKey }
  | { readonly _tag: "Evm"; readonly address: EvmAddress }

/** A wallet with room for one more portfolio. */
export interface Wallet {
  readonly id: Uint8Array
  /** Null where it is still to be made. */
  readonly state: WalletState | null
  /** The role that the next portfolio's agent gets: 1 for the first. */
  readonly roleId: number
  /** What the owner's next signature must count, for EVM owners: 1 for a new wallet. */
  readonly odometer: number
}

/** The last role whose sub-account the root can withdraw from. */
export const lastWithdrawableRole = 10
/** Wallets of one owner and tenant: 320 portfolios. */
const walletLimit = 32

const lengthOf = (bytes: Uint8Array): Uint8Array => {
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, bytes.length, true)
  return length
}

/** The id of an owner's wallet. Each part has its length before it, so that no two owners share one. */
export const walletIdOf = (tenantId: TenantId, owner: WalletOwner, index: number): Uint8Array => {
  const name = owner._tag === "Solana" ? `solana:${owner.key.toBase58()}` : `eip155:0:${owner.address}`
  const parts = ["ballast solana wallet 1", tenantId, name, String(index)].map(utf8ToBytes)
  return sha256(concatBytes(...parts.flatMap((part) => [lengthOf(part), part])))
}

/** The EVM address of a public key, compressed (33 bytes), without its first byte (64) or whole (65). */
export const addressOfKey = (key: Uint8Array): EvmAddress | undefined => {
  const whole = key.length === 64 ? Uint8Array.of(4, ...key) : key
  const point = Result.try(() => secp256k1.ProjectivePoint.fromHex(whole))
  if (Result.isFailure(point)) return undefined
  return publicKeyToAddress(`0x${bytesToHex(point.success.toRawBytes(false))}`) as EvmAddress
}

/** Whether the wallet's root is the owner's, with all rights. */
const isOwnedBy = ({ roles }: WalletState, owner: WalletOwner): boolean => {
  const root = roles.find(({ id }) => id === 0)
  if (root === undefined || !root.actions.some(({ _tag }) => _tag === "All")) return false
  const { holder } = root
  return owner._tag === "Solana"
    ? holder._tag === "Ed25519" && holder.key.equals(owner.key)
    : holder._tag === "Secp256k1" && addressOfKey(holder.key) === owner.address
}

const nextOdometer = ({ roles }: WalletState): number => {
  const holder = roles.find(({ id }) => id === 0)?.holder
  return holder?._tag === "Secp256k1" ? holder.odometer + 1 : 1
}

/** The state in a wallet's account; null where there is none, undefined where the account is something else. */
export const stateIn = (account: Option.Option<Account>): WalletState | null | undefined => {
  if (Option.isNone(account)) return null
  if (!account.value.owner.equals(swigProgram)) return undefined
  const decoded = Result.try({
    try: () => decodeWalletState(account.value.data),
    catch: (error) => (error instanceof MalformedBytes ? error : new MalformedBytes(String(error)))
  })
  return Result.isSuccess(decoded) ? decoded.success : undefined
}

/** The wallet as it is for its owner; undefined where it cannot take a portfolio of the owner. */
export const walletOf = (id: Uint8Array, account: Option.Option<Account>, owner: WalletOwner): Wallet | undefined => {
  const state = stateIn(account)
  if (state === undefined) return undefined
  if (state === null) return { id, state, roleId: 1, odometer: 1 }
  if (!isOwnedBy(state, owner) || state.nextRole > lastWithdrawableRole) return undefined
  return { id, state, roleId: state.nextRole, odometer: nextOdometer(state) }
}

/** The first wallet with room. */
export const findWallet = Effect.fn("solana.findWallet")(function* (
  tenantId: TenantId,
  owner: WalletOwner
): Effect.fn.Return<Wallet, ChainUnavailable | WalletsExhausted, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const ids = Array.from({ length: walletLimit }, (_, index) => walletIdOf(tenantId, owner, index))
  const { values } = yield* rpc.accounts(ids.map((id) => walletConfig(id).address))
  for (const [index, id] of ids.entries()) {
    const wallet = walletOf(id, values[index]!, owner)
    if (wallet !== undefined) return wallet
  }
  return yield* new WalletsExhausted({ wallets: walletLimit })
})
