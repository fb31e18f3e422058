package fsm

// remember keeps how a request ended, under the current revision, and forgets the oldest. Without a request id it is found
// by its token only. At most one is remembered a revision.
func (d *draft) remember(r Remembered) {
	r.Revision = d.revision
	d.addRequest(&r)
	d.trimRequests()
}

// rememberEdit keeps that a change of an operator was made, if it was given a request id.
func (d *draft) rememberEdit(kind EditKind, requestID string, skipped ...string) {
	if requestID != "" {
		d.remember(Remembered{RequestID: requestID, Edit: kind, Skipped: skipped})
	}
}

// repeated tells what an edit of that request id did before, nil for one that is new. An id that another kind of edit had is not that
// of a repeat: taken for one, its caller would hear that it is done, and nothing is.
func (d *draft) repeated(kind EditKind, requestID string) (*Remembered, *InvalidResult) {
	done := d.EditRequest(requestID)
	if done == nil || done.Edit == kind {
		return done, nil
	}
	why := invalid("request id %q %s", requestID, done.Used())
	why.Used = done
	return nil, &why
}

// addRequest lets the newest be found when there are two of one key: when a permit held for an operator was cancelled,
// which freed nothing, and then was cleared.
func (d *draft) addRequest(r *Remembered) {
	d.requests = d.requests.push(r)
	if r.RequestID != "" {
		d.requestKeys.Set(keyOfRequest(r))
	}
	if r.Token != 0 {
		d.requestTokens.Set(r.Token, r)
	}
}

func (d *draft) trimRequests() {
	for d.requests.len() > int(d.settings.RememberedRequests) {
		r := d.requests.first()
		d.requests = d.requests.pop()
		if r.RequestID != "" {
			if found, _ := d.requestKeys.Delete(keyOfRequest(r)); found.request != r {
				d.requestKeys.Set(found) // a newer one of the same key
			}
		}
		d.requestTokens.Delete(r.Token)
	}
}
