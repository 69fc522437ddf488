/** The account of a Swig wallet in the program's own layout, so that clients of the real program read it. */
import { encodeAction } from "#layers/solana/swig/Action.ts"
import { headerLength, type RoleHolder, type WalletRole, type WalletState } from "#layers/solana/swig/WalletState.ts"

const positionLength = 16
const kindOf = (holder: RoleHolder): number => {
  switch (holder._tag) {
    case "Ed25519":
      return 1
    case "Secp256k1":
      return 3
    case "Other":
      return holder.kind
  }
}

const holderBytes = (holder: RoleHolder): Uint8Array => {
  if (holder._tag === "Ed25519") return holder.key.toBytes()
  if (holder._tag === "Other") return holder.bytes
  const bytes = new Uint8Array(40)
  bytes.set(holder.key)
  new DataView(bytes.buffer).setUint32(36, holder.odometer, true)
  return bytes
}

const roleBytes = ({ actions, holder, id }: WalletRole, start: number): Uint8Array => {
  const key = holderBytes(holder)
  let offset = 0
  const encoded = actions.map((action) => {
    const bytes = encodeAction(action, offset)
    offset += bytes.length
    return bytes
  })
  const position = new Uint8Array(positionLength)
  const view = new DataView(position.buffer)
  view.setUint16(0, kindOf(holder), true)
  view.setUint16(2, key.length, true)
  view.setUint16(4, actions.length, true)
  view.setUint32(8, id, true)
  view.setUint32(12, start + positionLength + key.length + offset, true)
  return Uint8Array.from(Buffer.concat([position, key, ...encoded]))
}

/** The account's data, padded to eight bytes as the program does. */
export const encodeWalletState = ({
  bump,
  holdingsBump,
  id,
  nextRole,
  roles,
  scopedSubAccounts
}: WalletState): Uint8Array => {
  const header = new Uint8Array(headerLength)
  const view = new DataView(header.buffer)
  view.setUint8(0, 1)
  view.setUint8(1, bump)
  header.set(id, 2)
  view.setUint16(34, roles.length, true)
  view.setUint32(36, nextRole, true)
  view.setUint8(40, holdingsBump)
  view.setUint32(44, scopedSubAccounts, true)
  let length = 0
  const encoded = roles.map((role) => {
    const bytes = roleBytes(role, length)
    length += bytes.length
    return bytes
  })
  const padded = new Uint8Array(Math.ceil((headerLength + length) / 8) * 8)
  padded.set(Buffer.concat([header, ...encoded]))
  return padded
}
