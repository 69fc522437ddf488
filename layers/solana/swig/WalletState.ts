/**
 * The account that holds a Swig wallet's roles, as the program writes it.
 *
 * Source: the program's `state/src/swig.rs` and `role.rs`; compared with what the packages read (test/sandbox/solana).
 */
import { PublicKey } from "@solana/web3.js"
import { type Action, decodeActions } from "#layers/solana/swig/Action.ts"
import { ByteReader, MalformedBytes } from "#layers/solana/swig/ByteReader.ts"

/** The holder of a role; an EVM owner's key is compressed, and signatures of it are counted. */
export type RoleHolder =
  | { readonly _tag: "Ed25519"; readonly key: PublicKey }
  | { readonly _tag: "Secp256k1"; readonly key: Uint8Array; readonly odometer: number }
  /** One that the service does not make, such as a passkey: its number and its bytes. */
  | { readonly _tag: "Other"; readonly kind: number; readonly bytes: Uint8Array }

export interface WalletRole {
  readonly id: number
  readonly holder: RoleHolder
  readonly actions: ReadonlyArray<Action>
}

export interface WalletState {
  readonly id: Uint8Array
  readonly bump: number
  readonly holdingsBump: number
  /** The id that the next role gets. Ids are not used again. */
  readonly nextRole: number
  /** How many sub-accounts of the second kind the wallet has had. The service makes none. */
  readonly scopedSubAccounts: number
  readonly roles: ReadonlyArray<WalletRole>
}

const discriminator = 1
const ed25519 = 1
const secp256k1 = 3
const holderLengths: Readonly<Record<number, number>> = { [ed25519]: 32, [secp256k1]: 40 }

/**
 * Reads the account's data; throws `MalformedBytes` when it is none. Holders and permissions of other services beside
 * ours are kept as they are, and so is whatever follows the roles.
 */
export const decodeWalletState = (data: Uint8Array): WalletState => {
  const reader = new ByteReader(data, "Swig wallet")
  const kind = reader.u8()
  if (kind !== discriminator) throw new MalformedBytes(`the account is not a Swig wallet: it begins with ${kind}`)
  const bump = reader.u8()
  const id = reader.bytes(32)
  const count = reader.u16()
  const nextRole = reader.u32()
  const holdingsBump = reader.u8()
  reader.padding(3)
  const scopedSubAccounts = reader.u32()
  const roles = Array.from({ length: count }, () => decodeRole(reader, data.length - headerLength))
  return { id, bump, holdingsBump, nextRole, scopedSubAccounts, roles }
}

/** Bytes before the first role. */
export const headerLength = 48

const decodeRole = (reader: ByteReader, all: number): WalletRole => {
  const kind = reader.u16()
  const length = reader.u16()
  const actionCount = reader.u16()
  reader.padding(2)
  const id = reader.u32()
  const end = reader.u32()
  const holder = decodeHolder(kind, reader.bytes(length), id)
  const actions = decodeActions(reader.bytes(Math.max(0, end - (all - reader.left))))
  if (actions.length !== actionCount) throw new MalformedBytes(`role ${id} announces ${actionCount} actions`)
  return { id, holder, actions }
}

const decodeHolder = (kind: number, bytes: Uint8Array, role: number): RoleHolder => {
  if (holderLengths[kind] !== bytes.length) return { _tag: "Other", kind, bytes }
  const reader = new ByteReader(bytes, `holder of role ${role}`)
  if (kind === ed25519) return { _tag: "Ed25519", key: new PublicKey(reader.bytes(32)) }
  const key = reader.bytes(33)
  reader.padding(3)
  return { _tag: "Secp256k1", key, odometer: reader.u32() }
}
