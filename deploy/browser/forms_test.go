package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// An administrator creates a binding and a token for a new caller, who logs in with the token.
func TestAccess_NewBindingAndToken_AllowLogin(t *testing.T) {
	c, auth := startSecured(t, 1)
	p := loggedIn(t, c, auth, "admin", "/access")
	p.click("Create a binding …")
	p.fill("Name", "night")
	p.fill("Subjects", "bob")
	p.fill("Semaphores", "nightly-*")
	p.fill("Group", "(")
	p.click("Create")
	p.until("the validation error next to the subjects", fieldShowsError("Subjects", "must be cert:NAME"))
	p.fill("Subjects", "cert:bob")
	p.click("Create")
	p.until("the validation error next to the group", fieldShowsError("Group", "missing closing"))
	p.fill("Group", "zone-a")
	p.shows("grant viewer on nightly-* in group zone-a")
	p.fill("Reason", "the night shift")
	p.click("Create")
	p.shows("Binding night created.")

	p.clickInRow("night", "Create a token …")
	p.fill("For", "soon")
	p.shows("“soon” is not a duration")
	p.fill("For", "2h")
	p.click("Create")
	p.shows("shown only once")
	secret := eval[string](p, field("Token")+".value")
	if len(secret) < 20 {
		t.Errorf("the token %q is too short", secret)
	}
	p.until("the token to be focused", `document.activeElement.value === `+quote(secret)+` && !location.href.includes(`+quote(secret)+`)`)
	p.click("Done")
	p.until("the token to disappear", `!(document.documentElement.outerHTML + location.href).includes(`+quote(secret)+`)`)

	bob := open(t, c.Servers[0].HTTP, "/")
	bob.logIn(secret)
	bob.shows("nightly-export")
	bob.shows("night")
	if eval[bool](bob, `document.body.innerText.includes("pool/images")`) {
		t.Error("the page shows semaphores outside the scope of the binding")
	}

	p.clickInRow("night", "Revoke …")
	p.shows("refused immediately")
	p.click("Revoke")
	p.shows(" revoked.")
	bob.shows("Log in to Gatekeeper")
	p.until("the token to disappear from the list", "!("+inRow("night", "Revoke …")+")")

	p.clickInRow("night", "Remove …")
	p.shows("These subjects will lose all access:")
	p.click("Remove")
	p.shows("Binding night removed.")
	p.until("the binding to disappear from the list", "!("+inRow("night", "Remove …")+")")
	p.clickInRow("admin", "Remove …")
	p.click("Remove")
	p.shows("The cluster would have no administrator")
	if list, err := auth.ListBindings(t.Context(), &gatekeeperv1.ListBindingsRequest{}); err != nil || len(list.GetBindings()) != 1 {
		t.Errorf("ListBindings() = %v, %v; want one binding", list, err)
	}
}

// A binding is changed while an administrator edits it. The administrator sees the conflicting change, and resolves the
// conflict using only the keyboard.
func TestAccess_ConcurrentEdit_ShowsConflict(t *testing.T) {
	c, auth := startSecured(t, 1)
	viewer := &gatekeeperv1.AccessGrant{Role: gatekeeperv1.Role_ROLE_VIEWER}
	binding := &gatekeeperv1.Binding{Name: "shop", Subjects: []string{"cert:a"}, Grants: []*gatekeeperv1.AccessGrant{viewer}}
	set, err := auth.SetBinding(t.Context(), &gatekeeperv1.SetBindingRequest{Binding: binding})
	if err != nil {
		t.Fatal(err)
	}
	p := loggedIn(t, c, auth, "admin", "/access")
	edit := inRow("shop", "Edit …")
	p.until("the binding", edit)
	eval[any](p, edit+".focus()")
	p.keys(kb.Enter)
	p.shows("Edit binding shop")
	p.fill("Subjects", "cert:b")
	binding.Subjects = []string{"cert:c"}
	again := &gatekeeperv1.SetBindingRequest{Binding: binding, ExpectedRevision: set.GetBinding().GetRevision()}
	if _, err := auth.SetBinding(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	eval[any](p, field("Reason")+".focus()")
	p.until("the preview", `((save) => save && save.getAttribute("aria-disabled") !== "true")(`+control("Save")+`)`)
	p.keys(kb.Enter)
	p.shows("while you were editing it")
	p.shows("subject cert:c")
	eval[any](p, control("Keep my values")+".focus()")
	p.keys(kb.Enter)
	p.until("the lost subject to be marked", `[...document.querySelectorAll("dialog del")].some(e => e.innerText === "subject cert:c")`)
	p.click("Save")
	p.shows("Binding shop saved.")
	list, err := auth.ListBindings(t.Context(), &gatekeeperv1.ListBindingsRequest{})
	if err != nil || list.GetBindings()[1].GetSubjects()[0] != "cert:b" {
		t.Errorf("ListBindings() = %v, %v; want the resolved subjects", list, err)
	}
	p.until("the focus to return", edit+" === document.activeElement")
	p.keys(kb.Enter)
	p.shows("Edit binding shop")
	p.keys(kb.Escape)
	p.until("the dialog to close", `!document.querySelector("dialog[open]") && location.pathname === "/access"`)
}

// The dialogs, including those that show errors, pass the same accessibility checks as the views.
func TestForms_EverySizeAndTheme_PassAccessibilityChecks(t *testing.T) {
	axe := axe(t)
	c, auth := startSecured(t, 1)
	long := "oidc:sub=system:serviceaccount:a-namespace-whose-name-nobody-would-call-short:an-account-whose-name-is-not-shorter"
	binding := &gatekeeperv1.Binding{Name: "shop", Subjects: []string{"cert:a", long}, Grants: []*gatekeeperv1.AccessGrant{
		{Role: gatekeeperv1.Role_ROLE_ACQUIRER, Semaphores: []string{"orders-*", "nightly-export"}, Labels: "team=data", Group: "prod"},
		{Role: gatekeeperv1.Role_ROLE_VIEWER},
	}}
	if _, err := auth.SetBinding(t.Context(), &gatekeeperv1.SetBindingRequest{Binding: binding}); err != nil {
		t.Fatal(err)
	}
	createToken(t, auth, "shop")
	p := loggedIn(t, c, auth, "admin", "/access")
	p.until("the bindings", inRow("shop", "Edit …"))
	p.checkAccessibility(axe)
	for text, shown := range map[string]string{
		"Edit …": "Add a grant", "Remove …": "These tokens will stop working:", "Create a token …": "may do everything that the binding grants", "Revoke …": "refused immediately",
	} {
		p.clickInRow("shop", text)
		p.shows(shown)
		p.checkAccessibility(axe)
		p.keys(kb.Escape)
		p.until("the dialog to close", `!document.querySelector("dialog[open]")`)
	}
	p.clickInRow("shop", "Create a token …")
	p.click("Create")
	p.shows("shown only once")
	p.checkAccessibility(axe)
	p.click("Done")
	p.visit("/cluster")
	p.clickInMember(c.Servers[0].ID, "Remove …")
	p.shows("last voter cannot be removed")
	p.checkAccessibility(axe)
	p.visit("/cluster?edit=settings")
	p.fill("max_duration", "2h")
	p.click("Review and save …")
	p.shows("Settings that change")
	p.checkAccessibility(axe)
	for _, text := range p.console() {
		if !strings.Contains(text, "members:remove") { // the browser logs every error response
			t.Error(text)
		}
	}
}

// fieldShowsError returns an expression that is true if the field with the given label shows the given text as its
// error.
func fieldShowsError(label, text string) string {
	return `(() => { const e = ` + field(label) + `; const ids = (e?.getAttribute("aria-describedby") ?? "").split(" ");
		return e?.getAttribute("aria-invalid") === "true" &&
			ids.some(id => document.getElementById(id)?.innerText.includes(` + quote(text) + `)); })()`
}

// inRow returns an expression for the enabled button with the given text, in the table row that begins with the given
// name.
func inRow(name, text string) string {
	return `[...document.querySelectorAll("tr button")].find(b => b.innerText.trim() === ` + quote(text) +
		` && b.closest("tr").querySelector("th").innerText.trim() === ` + quote(name) + ` && b.getAttribute("aria-disabled") !== "true")`
}

func (p *page) clickInRow(name, text string) {
	p.t.Helper()
	p.until(text+" of "+name, inRow(name, text))
	p.clickAt(inRow(name, text))
}
