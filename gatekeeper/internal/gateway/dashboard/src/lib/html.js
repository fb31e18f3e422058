// Templates that need no compilation: htm turns them into Preact elements. Values become text nodes and properties,
// never markup.
import { h } from 'preact';
import htm from 'htm';

export const html = htm.bind(h);
