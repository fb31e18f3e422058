// Templates without a build step: htm turns them into preact elements. Values become text nodes and properties, never
// markup.
import { h } from 'preact';
import htm from 'htm';

export const html = htm.bind(h);
