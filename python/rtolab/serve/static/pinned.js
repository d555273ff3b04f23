// Runs that are kept, so that later ones can be compared with them.

/** The senders of a result, as they are kept. */
export function keptOf({ senders }) {
  return senders.map((sender) => ({ ...sender, name: `${sender.name} (kept)`, timeouts: [...sender.timeouts] }));
}

/** A result with kept senders after its own, of which there are at most `most` together. */
export function kept(result, pinned, most) {
  if (pinned.length === 0) return result;
  const senders = [...result.senders, ...pinned].slice(0, Math.max(most, result.senders.length));
  return { ...result, senders, end_s: Math.max(result.end_s, ...senders.map(({ end_s }) => end_s)) };
}
